"""Find a rare class: weights of classes, probabilities, and the area under the ROC curve."""

import numpy as np
from sklearn.model_selection import cross_val_score

from random_features import make_map
from random_features.kernels import Gaussian
from random_features.machines import KernelMachineClassifier

rng = np.random.default_rng(1)
y = np.arange(2000) < 70  # 3.5 % are positive
X = rng.normal(size=(2000, 2)) + 1.5 * y[:, None]
phi = make_map("orf", Gaussian(1.5), n_components=32, random_state=0)

for class_weight in (None, "balanced"):
    machine = KernelMachineClassifier(phi, np.logspace(-6, 0, 7), loss="logistic", class_weight=class_weight)
    found = machine.fit(X, y).predict(X)
    auc = cross_val_score(machine, X, y, scoring="roc_auc", cv=3).mean()
    print(
        f"{class_weight!s:9} positives found {found[y].mean():.2f}, false alarms {found[~y].mean():.2f}, AUC {auc:.2f}"
    )
print("probabilities", machine.predict_proba(X[:2]).round(2).tolist())
