"""Draw docs/pictures/variance.png: the deviation of a Gaussian process on few features is too small where rows end."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from random_features import make_map
from random_features.kernels import Gaussian
from random_features.machines import KernelMachineRegressor

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (1000, 1))
y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=1000)
at, kernel = np.linspace(-4, 4, 400)[:, None], Gaussian(0.4)
panels = {"exact kernel": kernel} | {
    f"{2 * s} columns": make_map("rff", kernel, n_components=s, random_state=0) for s in (400, 50, 10)
}
figure, axes = plt.subplots(1, 4, figsize=(10, 2.6), sharey=True, layout="constrained")
for ax, (title, features) in zip(axes, panels.items(), strict=True):
    machine = KernelMachineRegressor(features, penalties=1e-5, uncertainty=True).fit(X, y)
    mean, std = machine.predict(at, return_std=True)
    ax.fill_between(at[:, 0], mean - 2 * std, mean + 2 * std, color="#0072b2", alpha=0.25, linewidth=0)
    ax.plot(at, machine.sample_y(at, 5), color="0.5", linewidth=0.6)
    ax.plot(at, mean, color="#0072b2")
    ax.axvspan(-2, 2, color="0.95", zorder=0)
    ax.set(title=title, xlabel="x", ylim=(-4, 4))
axes[0].set_ylabel("mean, 2 deviations, draws")
figure.savefig(Path(__file__).with_name("pictures") / "variance.png", dpi=110, metadata={"Software": None})
