"""The gain of a search for features, by its budget: accuracy at one number of features against the number of candidate
frequencies whose alignment with the labels is evaluated.

A map that chooses from a pool has as many candidates as the budget. A map that searches by copies of a walk has as many
copies as the budget allows over all of its rounds, each with the number of steps in its entry. A map without a search
has the same accuracy at every budget.
"""

from random_features.errors import UserError
from random_features.maps.registry import make_map, resolved_options
from rfstudy.study.engine import Job, Measured
from rfstudy.study.job import Part
from rfstudy.study.svm_rows import rows_of_map

#: The options with which a map spends a budget: the size of its pool, the copies of its walk.
POOL, COPIES = "n_candidates", "n_copies"


def check(spec: Part) -> None:
    """Raise ``UserError`` for a budget that is too small for an entry."""
    for entry in spec.methods:
        spent(entry, spec.grid["n_features"], min(spec.grid["evaluations"]))


def measure(job: Job, entry: dict, *, budget: int, repeat: int, n_features: int, C: float) -> Measured:
    """Return the accuracies of the l1-SVM on the features that were found within a budget."""
    own, place = {"options": spent(entry, n_features, budget)}, {"axis": "evaluations", "at": budget}
    return rows_of_map(job, entry | own, n_features, repeat, C, place), {}


def spent(entry: dict, s: int, budget: int) -> dict:
    """Return the options with which the map of an entry finds s features within a budget of evaluations. A pool has at
    least s candidates, and a map without a search spends nothing. Raise ``UserError`` if the budget leaves a walk fewer
    copies than the peaks that it keeps per round.

    >>> spent({"method": "kprff", "options": {}}, 100, 5000)
    {'n_candidates': 5000}
    """
    method, options = entry["method"], entry["options"]
    known = resolved_options(method, {})
    if POOL in known:
        return options | {POOL: max(s, budget)}
    if COPIES not in known:
        return options
    one_copy = make_map(method, n_components=s, **options | {COPIES: 1})
    if budget < (least := one_copy.evaluations_ * one_copy.components_per_round_):
        raise UserError(f"evaluations: {budget} are under the {least} that one copy a peak takes")
    return options | {COPIES: budget // one_copy.evaluations_}
