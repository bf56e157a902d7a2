"""Learners on random features and on exact kernel matrices.

Features arrive as a *stream*: ``blocks`` is a function without arguments that returns a fresh iterator of
(slice of rows, ndarray of shape (rows, n_columns), float32 or float64), in the order of the rows. A learner may
call it several times and knows nothing of the map behind it.
"""

from rfstudy.learners.exact import (
    cross_validate_kernel_ridge,
    cross_validate_kernel_svm,
    fit_kernel_ridge,
    fit_kernel_svm,
)
from rfstudy.learners.linear_model import KernelModel, LinearModel
from rfstudy.learners.penalties import best_penalty
from rfstudy.learners.ridge import cross_validate_ridge, fit_ridge
from rfstudy.learners.svm import cross_validate_svm, fit_svm
from rfstudy.learners.targets import as_columns, decode_labels, encode_labels

__all__ = [
    "KernelModel",
    "LinearModel",
    "as_columns",
    "best_penalty",
    "cross_validate_kernel_ridge",
    "cross_validate_kernel_svm",
    "cross_validate_ridge",
    "cross_validate_svm",
    "decode_labels",
    "encode_labels",
    "fit_kernel_ridge",
    "fit_kernel_svm",
    "fit_ridge",
    "fit_svm",
]
