"""Training a cell: the penalty that is used, and what happens where it does not work."""

import numpy as np
import pytest

from rfstudy.maps import make_map
from rfstudy.study.sample import Sample
from rfstudy.study.train import fit_where_regular

OPTIONS = {"scaling": "sum", "center": "targets", "penalties": [1e-300, 1e-200, 1e-3, 1.0]}


def duplicated():
    """A sample whose features are linearly dependent: the two columns of the data are equal."""
    generator = np.random.default_rng(0)
    column = generator.standard_normal((60, 1))
    X, y = np.hstack([column, column]), np.where(generator.standard_normal(60) > 0, 1, -1)
    return Sample(X, y, X, y, capped=False)


class TwiceTheSame:
    """Features that are the data themselves, twice."""

    n_columns_ = 4

    def transform_blocks(self, X):
        yield slice(0, len(X)), np.hstack([X, X])


def test_a_penalty_at_which_the_system_is_singular_is_raised_to_the_next_that_works():
    model, classes, penalty = fit_where_regular("ridge", OPTIONS, TwiceTheSame(), duplicated(), 1e-300)
    assert penalty == 1e-3
    assert list(classes) == [-1, 1]
    # equal columns share their weight equally: the solution is the ridge one, not a rounding error
    np.testing.assert_allclose(model.coef[1:], model.coef[:-1], rtol=1e-6)


def test_a_penalty_that_works_is_used_as_it_is():
    sample = duplicated()
    phi = make_map("rff", n_components=3, random_state=0).fit(sample.X_train)
    assert fit_where_regular("ridge", OPTIONS, phi, sample, 1.0)[2] == 1.0


def test_no_penalty_large_enough_is_an_error():
    options = OPTIONS | {"penalties": [1e-300, 1e-200]}
    with pytest.raises(np.linalg.LinAlgError, match="singular to working precision"):
        fit_where_regular("ridge", options, TwiceTheSame(), duplicated(), 1e-300)
