"""Approximate a kernel matrix with more and more features."""

import numpy as np

from random_features import make_map
from random_features.kernels import Gaussian

X = np.random.default_rng(0).normal(size=(300, 10))
kernel = Gaussian(length_scale=3.0)
exact = kernel(X)

for s in (16, 64, 256, 1024):
    Z = make_map("orf", kernel, n_components=s, random_state=0).fit_transform(X)
    error = np.linalg.norm(Z @ Z.T - exact) / np.linalg.norm(exact)
    print(f"{s:5} frequencies: relative error {error:.3f}")
