"""The difficulty of finding peaks of the Fourier potential: the best peak by the number of steps of the search, each
repeat from its own start, and the length of its frequency (Bullins, Zhang and Zhang, ICLR 2018, section 3.1).

The weights are those before the first round. The unit of length is that of the frequencies at the start of the walk,
sqrt(d) standard deviations.
"""

import math

import numpy as np

from rfstudy.study.engine import Job, Measured, rows_of


def measure(job: Job, entry: dict, *, steps: int, repeat: int) -> Measured:
    """Return the potential of the best frequency after the steps of the cell, over n^2, and its length."""
    sample, kernel, length_scale = job.sample_and_kernel(repeat)
    options = entry["options"] | {"n_steps": steps, "n_peaks": 1}
    phi = job.entry_map(entry | {"options": options}, kernel, 1, "peaks", job.spec.dataset, repeat)
    phi.fit(sample.X_train, sample.y_train)
    (frequency,) = phi.learned_["frequencies"]
    values = {
        "best_potential": phi.learned_["potentials"][0],
        "selected_norm": np.linalg.norm(frequency) / (phi.start_std_ * math.sqrt(len(frequency))),
    }
    shared = sample.size_columns | {"split": "train", "axis": "steps", "at": steps}
    shared["settings"] = {"length_scale": length_scale, "options": options, "capped": sample.capped}
    return rows_of(shared, values), {}
