"""Claims of Shahrampour et al. (AAAI 2018) on features ranked by their use for the labels.

LKRF is ``karff``. The paper reports it at the best of its penalties on the test rows. That value is used where it was
measured (``karff/best-on-test``). Every table of claims is about one learner.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.claims import helpers as check
from rfstudy.report.claims.points import Point, number, only_evidence
from rfstudy.report.claims.registry import AS_EFFECT, claim
from rfstudy.report.claims.rows import Rows
from rfstudy.report.claims.samples import Side, difference, lowest, rank_correlation, side
from rfstudy.report.compare import family, is_effect, overlap_of, paired
from rfstudy.report.estimates import largest_half
from rfstudy.report.tables.times import curve, within

GRIDS = {"text": "eerf-text", "tuned": "eerf-tuned"}
GAUSSIAN, OTHER_KERNELS = ("buzz", "news", "adult", "mnist"), ("year", "letter", "har")
ALL = GAUSSIAN + OTHER_KERNELS
ERROR, SCORING, TRAINING, BOTH = "error_pct", "time_preprocess_s", "time_train_s", "time_preprocess_train_s"

#: The largest size of each data set.
LARGEST = "share == 1"

#: Columns that are the same for all values compared within one table.
CELL = ("experiment", "dataset", "learner")

LKRF = lowest("karff", also=("karff/best-on-test",))
OTHERS, BASELINES = lowest("rff", "orf", "ses"), lowest("rff", "orf", "ses", "karff", also=("karff/best-on-test",))
OF_SCORING, OF_TRAINING = side("kprff", metric=SCORING), side("kprff", metric=TRAINING)
EERF, RKS = side("kprff", metric=BOTH), side("rff", metric=TRAINING)

TIMED = "timed on one thread, and the training is ridge classification in closed form"


@claim("eerf-01", GRIDS, stricter=AS_EFFECT, datasets="buzz", effect=True)
@claim("eerf-02", GRIDS, stricter=AS_EFFECT, datasets="news", effect=True)
@claim("eerf-03", GRIDS, stricter=AS_EFFECT, datasets="adult", effect=True)
@claim("eerf-04", GRIDS, stricter=AS_EFFECT, datasets="mnist", effect=True)
@claim("eerf-07", GRIDS, datasets=GAUSSIAN, where="share >= 0.4 and share <= 0.6", of=LKRF, over=OTHERS)
@claim("eerf-19", GRIDS, stricter=AS_EFFECT, datasets=ALL, where=LARGEST, over=LKRF, effect=True)
@claim("eerf-22", GRIDS, datasets=GAUSSIAN, where="share <= 0.5", of=("kprff", LKRF), over="rff")
def lower_error(rows: Rows, of="kprff", over: Side | str = BASELINES, effect: bool = False):
    return check.better_than(rows, ERROR, of, over, effect=effect)


@claim("eerf-05", GRIDS, datasets=GAUSSIAN)
def fewer_features(rows: Rows):
    """Return the tests of the features that reach the errors of a baseline.

    The targets are the errors that the baseline reaches, each at the first size at which its mean is that low.
    """
    points, others = [], ("rff", "orf", "ses", LKRF)
    for other in others:
        what = f"features of {rows.name('kprff')}/{rows.name(other)} to a target"
        for _, found in check.along_sizes(rows.places(ERROR, "kprff", other)):
            labels = [*(where["n_features_label"] for where, _ in found), "never"]
            own, theirs = (np.array([samples[i].mean for _, samples in found]) for i in (0, 1))
            for position, (where, _) in enumerate(found):
                if position and theirs[position] >= theirs[:position].min():
                    continue  # reached before
                first = next(iter(np.flatnonzero(own <= theirs[position]).tolist()), len(found))
                text = f"{labels[first]}/{labels[position]}"
                points.append(Point(float(first - position), first <= position, where, what, text))
    return rows.part(points, ERROR, "kprff", others)


@claim("eerf-06", GRIDS, datasets=GAUSSIAN)
def errors_fall(rows: Rows):
    five = ("rff", "orf", "ses", LKRF, "kprff")
    falls = check.changes(rows, ERROR, five, falls=True, errors=1)
    return [falls, check.correlates_with_size(rows, ERROR, five, below=0)]


@claim("eerf-08", GRIDS, stricter=AS_EFFECT, datasets=GAUSSIAN, where=LARGEST)
def lower_than_rks(rows: Rows):
    by_errors = check.better_than(rows, ERROR, "kprff", "rff", errors=2)
    return [check.better_than(rows, ERROR, "kprff", "rff", effect=True), only_evidence(by_errors)]


@claim("eerf-09", GRIDS, datasets="buzz", where=LARGEST, of="kprff", over="rff", at_most=0.8)
@claim("eerf-17", GRIDS, datasets=OTHER_KERNELS[:2], where=LARGEST, of=LKRF, minus="kprff", above=0, below=0.5)
@claim("eerf-20", GRIDS, datasets=OTHER_KERNELS, of="kprff", minus=LKRF, at_most=0)
@claim("eerf-21", GRIDS, datasets=ALL, where=LARGEST, metric=SCORING, of="kprff", over="karff", between=(0.5, 2))
@claim("eerf-26", GRIDS, stricter=TIMED, datasets=GAUSSIAN, where=LARGEST, metric=BOTH, of=EERF, over=RKS, below=2)
def keeps_bound(rows: Rows, metric: str = ERROR, **test):
    return check.keeps_bound(rows, metric, **test)


@claim("eerf-10", GRIDS, needs="any", stricter=TIMED, where=LARGEST)
def scoring_is_quicker(rows: Rows):
    others = rows.of([dataset for dataset in ALL if dataset != "news"])
    return [scoring(others, below=1), scoring(rows.of("news"), above=1)]


@claim("eerf-11", GRIDS, stricter=f"and above 0.05; {TIMED}", datasets="adult", where=LARGEST, above=0.05, below=0.2)
def scoring(rows: Rows, **limits):
    """Return the test of the time of the scores over the time of the training."""
    return check.keeps_bound(rows, SCORING, OF_SCORING, over=OF_TRAINING, **limits)


@claim("eerf-12", {"text": "eerf-candidates"}, datasets=ALL)
def pool_of_five_to_twenty(rows: Rows):
    """Return the tests of pools of 5 and of 20 times the features: better than RFF, no worse than 100 times."""
    rows = replace(rows, frame=rows.frame.assign(at=rows.frame["at"] / rows.frame["n_features"]))
    five, twenty, hundred = (side("kprff", at=times) for times in (5, 20, 100))
    beaten = [check.better_than(rows, ERROR, pool, "rff") for pool in (five, twenty)]
    no_better = [
        check.bounded(where, loss, what, text, at_most=loss.error, neutral=0.0)
        for where, loss, _, what, text in check.estimated(rows, ERROR, (five, twenty), minus=hundred)
    ]
    return [*beaten, rows.part(no_better, ERROR, five, twenty, hundred, in_errors=True)]


@claim("eerf-13", {"text": "eerf-subsample"}, datasets=ALL[:5])
def tenth_of_the_rows(rows: Rows):
    return check.no_difference(rows, ERROR, side("kprff", at=0.1), side("kprff", at=1), errors=2)


def _within_times(rows: Rows) -> Iterator[tuple[dict, list[float], list[tuple], float]]:
    """Yield data set and learner, the rising times of all sizes of ``kprff`` and ``rff``, and what they reach.

    The third entry is the size of each method with the lowest error within that time (None: none yet). The last one is
    how much the repeats overlap.
    """
    own = rows.usable()
    for place, cell in select(own, metric=ERROR, split="test").groupby(list(CELL), sort=False):
        where = dict(zip(CELL, place, strict=True))
        here = select(own, experiment=where["experiment"], dataset=where["dataset"])
        quantity = {"metric": ERROR, "learner": where["learner"], "split": "test"}
        curves = [curve(here, method, quantity, time) for method, time in (("kprff", BOTH), ("rff", TRAINING))]
        if all(map(len, curves)):
            budgets = sorted({time for points in curves for time in points["time"]})
            best = [tuple(within(points, budget) for points in curves) for budget in budgets]
            yield where, budgets, best, overlap_of(cell, rows.context)


@claim("eerf-14", GRIDS, stricter=TIMED, datasets="adult")
def ahead_at_every_time(rows: Rows):
    """Return the test of who is ahead at every time.

    A method without a size within the time is behind. That does not say which one is better, so such times must not
    decide.
    """
    points = []
    what = f"{rows.name('rff')} minus {rows.name('kprff')} within the time"
    for place, budgets, best, overlap in _within_times(rows):
        for budget, (own, other) in zip(budgets, best, strict=True):
            where = place | {"n_features_label": f"{budget:.3g} s"}
            if own and other:
                gap, text = other.error - own.error, check.signed(other.error - own.error, ERROR)
                opposite = paired(other.errors, own.errors, overlap).high < 0
                reason = "machine busy" if own.machine_busy or other.machine_busy else ""
            else:
                gap, opposite, reason = np.inf if own else -np.inf, False, "the other has nothing yet"
                text = f"only {rows.name('kprff' if own else 'rff')}"
            points.append(Point(gap, gap > 0, where, what, text, opposite=bool(opposite), reason=reason))
    return rows.part(points, ERROR, "kprff", "rff")


@claim("eerf-15", GRIDS, stricter=TIMED, datasets=GAUSSIAN)
def curves_cross_once(rows: Rows):
    points = []
    for where, budgets, best, _ in _within_times(rows):
        errors = [[each.error if each else np.inf for each in pair] for pair in best]
        ahead = [np.sign(other - own) if own < np.inf else -1.0 for own, other in errors]
        crossings = int(np.count_nonzero(np.diff(ahead)))
        first = next((f"{t:.3g} s" for t, sign in zip(budgets, ahead, strict=True) if sign > 0), "nowhere")
        text = f"ahead from {first}" + (f", {crossings} changes" if crossings > 1 else "")
        busy = any(each and each.machine_busy for pair in best for each in pair)
        reason = "machine busy" if busy else "" if len(budgets) > 1 else "cut off by the grid"
        holds, what = ahead[0] < 0 < ahead[-1] and crossings == 1, "best error within the time"
        points.append(Point(ahead[-1], holds, where, what, text, reason=reason))
    return rows.part(points, ERROR, "kprff", "rff")


@claim("eerf-16", GRIDS, stricter=TIMED, datasets=GAUSSIAN)
def share_of_scoring_falls(rows: Rows):
    return check.changes(rows, SCORING, OF_SCORING, over=OF_TRAINING, falls=True)


@claim("eerf-18", GRIDS, datasets=OTHER_KERNELS, where=LARGEST)
def clearly_better_on_hands(rows: Rows):
    """Return the test of a gain of over half a point, and of more than on the other two data sets."""
    points, what = [], f"gap on {rows.dataset('har')} and here"
    found = check.estimated(rows, ERROR, LKRF, minus="kprff")
    gaps = {(where["learner"], where["dataset"]): gap.value for where, gap, *_ in found}
    for (learner, dataset), gap in gaps.items():
        hands = gaps.get((learner, "har"))
        if dataset != "har" and hands is not None:
            text = f"{check.signed(hands, ERROR)} against {check.signed(gap, ERROR)}"
            where = {"dataset": dataset, "datasets": ["har", dataset], "learner": learner}
            points.append(Point(hands - gap, hands > gap, where, what, text))
    clearly = check.keeps_bound(rows.of("har"), ERROR, LKRF, minus="kprff", above=0.5)
    return [clearly, rows.part(points, ERROR, LKRF, "kprff")]


@claim("eerf-23", GRIDS, datasets=OTHER_KERNELS[:2])
def arc_cosine_maps(rows: Rows):
    than_rks = check.better_than(rows, ERROR, "kprff", "rff")
    return [than_rks, check.keeps_bound(rows, ERROR, "kprff", minus=LKRF, at_most=0)]


@claim("eerf-24", {"text": ["survey-gaussian-text", "survey-gaussian-code"]})
def sorf_and_orf(rows: Rows):
    """Return the tests of similar accuracy from d = 32 on, and of a larger approximation error below."""
    wide, narrow = ("covtype", "a8a"), ("ijcnn1", "eeg", "cod-rna", "magic04", "letter-am-nz", "skin")
    similar = check.no_difference(rows.of(wide, learner="ridge"), "accuracy_pct", "orf", "sorf", errors=2)
    return [similar, check.better_than(rows.of(narrow), "approximation_error_frobenius", "orf", "sorf")]


@claim("eerf-25", {"text": "eerf-text"}, at="some", datasets=GAUSSIAN)
def penalty_has_to_be_tuned_again(rows: Rows):
    """Return the test of whether one penalty is the best at all sizes.

    ``karff/divergence`` sweeps the penalty, and the settings of ``karff`` have the one that validation chose at each
    size. The choice of a value does not use the test rows.

    Stricter: of so many pairs some differ by chance, so that a loss has to pass Holm's correction over them too.
    """
    points, chosen, what, cells = [], _chosen(rows), "loss by another size's choice", {}
    for where, (own,) in rows.places(ERROR, "karff/divergence"):
        swept = cells.setdefault(tuple(where[column] for column in CELL), {})
        swept.setdefault(where["n_features_label"], {})[where["at"]] = own
    for cell, swept in cells.items():
        best = {label: chosen.get((*cell, label)) for label in swept}
        losses = {
            (label, other): difference(by_value[best[other]], by_value[best[label]])
            for label, by_value in swept.items()
            for other in swept
            if label != other and {best[label], best[other]} <= set(by_value)
        }
        for (label, other), loss in family(losses).items():
            bound = 2 * np.nan_to_num(loss.error)
            where = dict(zip(CELL, cell, strict=True)) | {"n_features_label": label}
            text = f"{check.signed(loss.value, ERROR)} with that of {other}"
            reason = "" if np.isfinite(loss.low) else "too few repeats"
            holds = bool(loss.value > bound) and is_effect(loss, ERROR)
            points.append(Point(loss.value, holds, where, what, text, bound, loss.error, reason=reason))
    return rows.part(points, ERROR, "karff/divergence")


def _chosen(rows: Rows) -> dict[tuple, float]:
    """Return the penalty that was chosen, by experiment, data set, learner and size."""
    own = rows.usable(method="karff", variant="", metric=ERROR)
    cells = own[[*CELL, "n_features_label"]].itertuples(index=False, name=None)
    chosen = [settings.get("options", settings).get("rho") for settings in settings_of(own)]
    return {cell: float(value) for cell, value in zip(cells, chosen, strict=True) if value is not None}


@claim("eerf-27", {"text": "eerf-energy"})
def follows_the_spectrum(rows: Rows):
    """Return the test of whether the rank correlation with the input variance is one.

    The difference of the correlation from one has to fall as a power of the larger half of the variances, where an
    asymptotic power shows.
    """
    metric, points = "score_spectrum_correlation", []
    for dataset, cell in select(rows.measured(metric, "kprff"), axis="input_scale").groupby("dataset", sort=False):
        means, where = cell.groupby("at")["value"].mean(), {"dataset": dataset}
        if len(means) < 3:
            continue
        rho = rank_correlation(means.index, means).value
        text = f"{rho:+.2f}, {number(means.iloc[0])} to {number(means.iloc[-1])}"
        points.append(Point(rho, rho > 1 - 1e-9, where, "rank correlation", text))
        lacking = (1.0 - means)[(means < 1.0) & means.index.isin(largest_half(means.index))]
        what = "power of what it lacks to one"
        points += check.power_between(where, what, lacking.index, lacking, below=0, significant=True)
    return rows.part(points)


@claim("eerf-28", {"text": "eerf-energy"})
def deviation_of_the_score(rows: Rows):
    # within a fifth of -1/2, as the slopes of eerf-29 are within a fifth of 1
    return check.fits_power(rows, "score_deviation", "kprff", "n_train", between=(-0.6, -0.4))


@claim("eerf-29", {"text": "eerf-cost"})
def linear_cost(rows: Rows):
    return [
        check.fits_power(rows, "time_fit_s", "kprff", along, held=held, half=True, between=(0.8, 1.2))
        for along, held in (("n_features", "n_train"), ("n_train", "n_features"))
    ]
