"""Kernel machines as scikit-learn estimators: on random features, or on the exact kernel.

They join a map (or a kernel) with the learners, which choose the penalty from a grid and never hold all features.
"""

from random_features.machines.base import MOST_HELD
from random_features.machines.classifier import KernelMachineClassifier
from random_features.machines.regressor import KernelMachineRegressor

__all__ = ["MOST_HELD", "KernelMachineClassifier", "KernelMachineRegressor"]
