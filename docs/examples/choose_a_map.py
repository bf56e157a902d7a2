"""Compare maps on your own data, at an equal number of columns."""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from random_features import list_maps, make_map
from random_features.kernels import Gaussian

X = StandardScaler().fit_transform(load_breast_cancer().data)
kernel = Gaussian("median")  # the length scale is the median distance between rows
print(len(list_maps(kernel=kernel)), "maps support the Gaussian kernel")

n_components = {"rff": 64, "orf": 64, "qmc": 64, "nystroem": 128}  # 128 columns each
for name, s in n_components.items():
    phi = make_map(name, kernel, n_components=s, random_state=0)
    Z = phi.fit_transform(X)
    exact = phi.kernel_(X)  # the kernel with the length scale found by fit
    error = np.linalg.norm(Z @ Z.T - exact) / np.linalg.norm(exact)
    print(f"{name:9} {Z.shape[1]} columns: relative error {error:.3f}")
