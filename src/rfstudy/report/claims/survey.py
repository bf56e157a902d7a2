"""Claims of the survey (Liu et al., TPAMI 2021) on its benchmark; ``survey_theory`` has those on theory."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rfstudy.metrics import fact_of
from rfstudy.report.claims import helpers as check
from rfstudy.report.claims import survey_theory  # noqa: F401 - it registers claims of the survey too
from rfstudy.report.claims.points import Part, Point, joined, number, only_evidence
from rfstudy.report.claims.registry import AS_EFFECT, INTERVAL_WITHIN, claim
from rfstudy.report.claims.rows import SIZE, Rows
from rfstudy.report.claims.samples import Sample, highest, lowest, quotient, rank_correlation, side
from rfstudy.report.compare import LEVEL, family
from rfstudy.report.notes import quantity

GAUSSIAN = {"text": "survey-gaussian-text", "code": "survey-gaussian-code"}
IMAGES, KERNELS = {"text": "survey-images-text"}, {"text": "survey-kernels-text"}
MEMORY = {"text": "survey-memory"}
MILLION = {"text": "survey-million-text", "code": "survey-million-code"}

EIGHT_SETS = ("ijcnn1", "eeg", "cod-rna", "covtype", "magic04", "letter-am-nz", "skin", "a8a")
EQUAL_MEMORY = ("letter-am-nz", "eeg", "magic04", "a8a")
IMAGE_SETS, MILLIONS = ("mnist", "cifar10-vgg", "cifar10-hog"), ("mnist8m", "mnist8m-made")

# Without VGG16, the maps see other features of CIFAR-10: they are shown as evidence and must not decide.
OTHER_FEATURES = {"cifar10-hog": "other features than the paper's"}

EIGHT = ("rff", "orf", "sorf", "rom", "fastfood", "qmc", "ssf", "gq")
NINE = (*EIGHT, "lsrff")
SEVEN = tuple(method for method in EIGHT if method != "ssf")
SMALL, LARGE = ("2d", "4d"), ("16d", "32d")
ARC_COSINE = ("arccos0", "arccos1")
BIT_WIDTHS, LANDMARKS = (8, 4, 2), {512: "16", 1024: "32", 2048: "64", 4096: "128"}  # landmarks by bits per row
ERROR, ACCURACY, TIME = "approximation_error_frobenius", "accuracy_pct", "time_feature_s"

SIMILAR = (
    f"{INTERVAL_WITHIN}, and within 10 % of an error or half a point of accuracy where the margin, so many standard "
    "deviations, is wider"
)
OF_MOST = f"the median represents most of the others; {SIMILAR}"
SEARCH = (
    "the search for the directions of SSF, which the paper gives as the reason, is made once for a number of features "
    "and is in no time of ours"
)


@claim("survey-01", GAUSSIAN, datasets="ijcnn1", sizes=SMALL, best="ssf")
@claim("survey-02", GAUSSIAN, datasets="ijcnn1", sizes=LARGE, best=("sorf", "qmc", "orf"))
@claim("survey-03", GAUSSIAN, datasets="eeg", sizes=SMALL, best="ssf")
@claim("survey-04", GAUSSIAN, datasets="eeg", sizes=LARGE, best="orf")
@claim("survey-05", GAUSSIAN, datasets="cod-rna", sizes=SMALL, best="ssf")
@claim("survey-07", GAUSSIAN, datasets="covtype", sizes=SMALL, best="orf")
@claim("survey-09", GAUSSIAN, datasets="magic04", sizes=SMALL, best="ssf")
@claim("survey-10", GAUSSIAN, datasets="magic04", sizes=LARGE, best=("ssf", "orf", "qmc", "rom"))
@claim("survey-11", GAUSSIAN, datasets="letter-am-nz", sizes=SMALL, best="ssf")
@claim("survey-12", GAUSSIAN, datasets="letter-am-nz", sizes=LARGE, best=("ssf", "orf"))
@claim("survey-13", GAUSSIAN, datasets="skin", sizes=SMALL, best=("ssf", "rom"))
@claim("survey-14", GAUSSIAN, datasets="skin", sizes=LARGE, best="qmc")
@claim("survey-20", GAUSSIAN, at="most", datasets=EIGHT_SETS, sizes=SMALL + LARGE, best=("ssf", "orf", "qmc"))
@claim("survey-34", KERNELS, at="most", datasets=EIGHT_SETS, kernel=ARC_COSINE, best=("ssf", "qmc"), among=EIGHT)
def lowest_error(rows: Rows, best, among=NINE):
    return check.is_best(rows, ERROR, best, among)


@claim("survey-06", GAUSSIAN, stricter=OF_MOST, datasets="cod-rna", sizes=LARGE)
@claim("survey-08", GAUSSIAN, stricter=OF_MOST, datasets="covtype", sizes=LARGE)
@claim("survey-15", GAUSSIAN, stricter=OF_MOST, datasets="a8a", sizes=SMALL)
@claim("survey-16", GAUSSIAN, stricter=OF_MOST, datasets="a8a", sizes=LARGE)
@claim(
    "survey-17", GAUSSIAN, stricter=SIMILAR, metric=ACCURACY, datasets=EIGHT_SETS, sizes=SMALL + LARGE, learner="ridge"
)
@claim("survey-19", GAUSSIAN, stricter=SIMILAR, metric=ACCURACY, datasets=EIGHT_SETS, sizes=LARGE, learner="svm")
def none_is_best(rows: Rows, metric: str = ERROR):
    # two good maps would hide each other from a claim about most of the others
    return check.none_stands_out(rows, metric, NINE, over="median", is_open=metric == ACCURACY)


@claim("survey-18", GAUSSIAN, stricter=SIMILAR, sizes=SMALL, learner="svm")
def best_of_svm_at_small_sizes(rows: Rows):
    others = [dataset for dataset in EIGHT_SETS if dataset not in ("ijcnn1", "a8a")]
    return [
        check.is_best(rows.of("ijcnn1"), ACCURACY, "fastfood", NINE, deviations=2),
        check.is_best(rows.of("a8a"), ACCURACY, "ssf", NINE, deviations=2),
        check.none_stands_out(rows.of(others), ACCURACY, NINE, over="second"),
    ]


@claim(
    "survey-21", GAUSSIAN, at="most", stricter="and err(SSF) < err(RFF) at most of the small sizes", datasets=EIGHT_SETS
)
def lead_of_ssf_shrinks(rows: Rows):
    strong = check.keeps_bound(rows.of(sizes=SMALL), ERROR, "ssf", over="rff", below=1)
    return [strong, check.changes(rows, ERROR, "ssf", over="rff", start=SMALL, end=LARGE)]


@claim("survey-22", GAUSSIAN, at="some", stricter="about 0.5 is 0.4 to 0.6", datasets=EIGHT_SETS)
def ssf_stays(rows: Rows):
    return joined(*(
        check.keeps_bound(rows, ERROR, side(method, size="32d"), over=side(method, size="8d"), **limits)
        for method, limits in (("ssf", {"above": 0.8}), ("rff", {"between": (0.4, 0.6)}))
    ))  # fmt: skip


@claim("survey-23", GAUSSIAN, at="most", datasets=EIGHT_SETS)
def leads_grow(rows: Rows):
    return [
        check.changes(rows, ERROR, method, over="rff", start=SMALL, end=LARGE, falls=True) for method in ("orf", "qmc")
    ]


OTHERS = lowest("rff", "sorf", "rom", "fastfood", "qmc", "gq", also=("lsrff",))


@claim("survey-24", IMAGES, datasets="mnist")
def lowest_errors_on_mnist(rows: Rows):
    return check.better_than(rows, ERROR, ("orf", "ssf"), OTHERS)


@claim(
    "survey-25", IMAGES, datasets="mnist",
    stricter=f"and the largest error over 1.1 times the smallest; {INTERVAL_WITHIN}",
)  # fmt: skip
def similar_on_mnist(rows: Rows):
    differ = check.keeps_bound(rows, ERROR, highest(*NINE), over=lowest(*NINE), above=1.1)
    return [differ, check.all_alike(rows.of(learner="svm"), ACCURACY, NINE, margin=1)]


@claim(
    "survey-26", IMAGES, stricter=f"the two lowest, as on MNIST; {INTERVAL_WITHIN}", datasets=IMAGE_SETS[1:],
    set_aside=OTHER_FEATURES,
)  # fmt: skip
def cifar_as_mnist(rows: Rows):
    similar = check.all_alike(rows.of(learner="svm"), ACCURACY, NINE, margin=1)
    return [check.better_than(rows, ERROR, ("orf", "ssf"), OTHERS), similar]


@claim("survey-27", IMAGES, datasets=IMAGE_SETS, set_aside=OTHER_FEATURES, slow="lsrff", others=EIGHT, above=1.5)
@claim(
    "survey-32", GAUSSIAN, datasets=EIGHT_SETS, sizes=["32d"], slow=lowest("ssf", "lsrff"), others=SEVEN, above=1,
    not_testable=SEARCH,
)  # fmt: skip
def slower_than_the_others(rows: Rows, slow, others, above: float):
    """Return the tests that the slow methods take longer and that the others take similar times."""
    slower = check.keeps_bound(rows, TIME, slow, over=highest(*others), above=above)
    return [slower, check.keeps_bound(rows, TIME, highest(*others), over=lowest(*others), below=2)]


@claim(
    "survey-28", IMAGES, datasets=IMAGE_SETS, set_aside=OTHER_FEATURES, above=0.7,
    not_testable="about the authors' implementation, of which our times say nothing",
)  # fmt: skip
@claim("survey-33", GAUSSIAN, datasets=EIGHT_SETS, at_least=0.9)
def structured_maps_gain_nothing(rows: Rows, **limits):
    return check.keeps_bound(rows, TIME, ("fastfood", "sorf", "rom"), over="rff", **limits)


@claim("survey-29", GAUSSIAN, datasets=EIGHT_SETS)
def more_features_help(rows: Rows):
    scores = check.correlates_with_size(rows.of(learner=("ridge", "svm")), ACCURACY, NINE, above=0)
    return [check.correlates_with_size(rows, ERROR, NINE, below=0), scores]


@claim("survey-30", GAUSSIAN, datasets=EIGHT_SETS)
def changing_best(rows: Rows):
    """Return one point for "most data sets", and one for "none is best everywhere".

    The first counts as the reference data count the published values.
    """
    best, winners = {}, set()
    for where, samples in rows.places(ERROR, NINE):
        winner = rows.name(min(samples, key=lambda each: each.mean).who[0])
        winners.add(winner)
        for end in (SMALL, LARGE):
            if where["n_features_label"] in end:
                best.setdefault(where["dataset"], {}).setdefault(end, set()).add(winner)
    best = {dataset: (ends[SMALL], ends[LARGE]) for dataset, ends in best.items() if len(ends) == 2}
    if not best:
        return rows.part([])
    several, where = sum(small != large for small, large in best.values()), {"datasets": list(best)}
    text = ", ".join(
        f"{rows.dataset(dataset)} {'+'.join(sorted(small))} to {'+'.join(sorted(large))}"
        for dataset, (small, large) in best.items()
    )
    text = f"the best changes on {several} of {len(best)} data sets: {text}"
    most = Point(several - len(best) / 2, several > len(best) / 2, where, text=text)
    none = Point(len(winners) - 1, len(winners) > 1, where, text=f"best somewhere: {', '.join(sorted(winners))}")
    return rows.part([most, none])


@claim("survey-31", GAUSSIAN, datasets=EIGHT_SETS)
def errors_vary_more_than_accuracies(rows: Rows):
    """Return the test of the coefficient of variation over the methods."""

    def variation(rows: Rows, metric: str) -> dict[tuple, float]:
        found = rows.by_place(metric, NINE, key=("dataset", SIZE[1]))
        means = {place: np.array([each.mean for each in samples]) for place, (_, samples) in found.items()}
        return {place: own.std(ddof=1) / own.mean() for place, own in means.items()}

    parts, errors = [], variation(rows, ERROR)
    for learner in ("ridge", "svm"):
        accuracies, points = variation(rows.of(learner=learner), ACCURACY), []
        what = f"variation over the methods: {quantity(ERROR)}/{quantity(ACCURACY, learner)}"
        for place in (place for place in errors if place in accuracies):
            ratio = errors[place] / accuracies[place] if accuracies[place] else np.inf
            points.append(Point(ratio, ratio >= 5, dict(zip(("dataset", SIZE[1]), place, strict=True)), what))
        parts.append(rows.part(points))
    return parts


@claim("survey-35", KERNELS, stricter=INTERVAL_WITHIN, datasets=EIGHT_SETS, kernel=ARC_COSINE)
def orthogonality_gains_nothing(rows: Rows):
    return check.keeps_bound(rows, ERROR, ("orf", "sorf"), over="rff", agree=True, between=(0.8, 1.25))


def _with_gaussian(rows: Rows, metric: str, *methods: str) -> Iterator[tuple[dict, list[Sample], list[Sample]]]:
    """Yield the coordinates of the arc-cosine kernels at which the Gaussian one was run too, with the samples of both.

    The data and the size are the same; the experiment may differ.
    """
    shared = ("dataset", "n_train", "n_features_label", "axis", "at")

    gaussian = rows.of(kernel="gaussian").by_place(metric, methods, key=shared)
    for kernel in ARC_COSINE:
        for place, (where, samples) in rows.of(kernel=kernel).by_place(metric, methods, key=shared).items():
            if place in gaussian:
                yield where, samples, gaussian[place][1]


@claim(
    "survey-36", {"text": ["survey-kernels-text", "survey-gaussian-text", "survey-million-code"]}, at="most",
    datasets=EIGHT_SETS + MILLIONS,
)  # fmt: skip
def larger_errors_than_gaussian(rows: Rows):
    points = []
    what = f"{fact_of(ERROR).label} over that with the gaussian kernel"
    for method in NINE:
        for where, (own,), (other,) in _with_gaussian(rows, ERROR, method):
            estimate, where = quotient(own, other), where | {"side": rows.name(method)}
            points.append(check.bounded(where, estimate, what, above=1, neutral=1.0))
    return rows.part(points, ERROR, *NINE)


@claim("survey-37", KERNELS, stricter=SIMILAR, at="most", datasets=EIGHT_SETS, kernel=ARC_COSINE, learner="ridge")
def similar_on_arc_cosine_kernels(rows: Rows):
    return check.all_alike(rows, ACCURACY, EIGHT)


@claim("survey-38", {"text": ["survey-kernels-text", "survey-gaussian-text"]}, datasets="covtype")
def times_ordered_as_gaussian(rows: Rows):
    """Return the test of times; the times of one kernel have to come from one record, the two kernels need not share
    it."""
    points = []
    what = f"rank correlation of {fact_of(TIME).label} with that with the gaussian kernel"
    for where, own, other in _with_gaussian(rows, TIME, *EIGHT):
        rho = rank_correlation(*([each.mean for each in samples] for samples in (own, other)))
        estimate = rho._replace(reason=next(filter(None, map(_timed_apart, (own, other))), ""))
        points.append(check.bounded(where, estimate, what, f"{rho.value:+.2f}", above=0.7, neutral=0.0))
    return rows.part(points, TIME, *EIGHT)


def _timed_apart(samples: list[Sample]) -> str:
    """Return why times cannot be ranked, or "": they come from several records, or other work ran at that time."""
    if len({run for each in samples for run, _ in each.values}) != 1:
        return "timed apart"
    return "machine busy" if any(each.machine_busy for each in samples) else ""


@claim("survey-39", KERNELS, stricter=SIMILAR, datasets=EIGHT_SETS, kernel="polynomial", learner="ridge")
def sketches_beat_maclaurin(rows: Rows):
    similar = check.no_difference(rows, ACCURACY, "ts", "trp", deviations=2)
    return [check.better_than(rows, ACCURACY, ("ts", "trp"), "rm", deviations=2), similar]


@claim("survey-40", KERNELS, datasets="covtype", kernel="polynomial")
def times_of_polynomial_maps(rows: Rows):
    slowest = check.keeps_bound(rows, TIME, "ts", over=highest("rm", "trp"), above=1)
    return [check.keeps_bound(rows, TIME, "rm", over=lowest("ts", "trp"), below=1), slowest]


@claim("survey-41", MILLION, datasets=MILLIONS, kernel="gaussian")
def lowest_errors_on_mnist8m(rows: Rows):
    others = ("rff", "qmc", "rom", "fastfood", "gq", "lsrff")
    return check.keeps_bound(rows, ERROR, highest("orf", "sorf", "ssf"), over=lowest(*others), below=1)


@claim("survey-42", {"code": "survey-million-code"}, datasets=MILLIONS)
def orf_gains_less_on_arc_cosine(rows: Rows):
    points, what = [], f"{rows.name('orf')}/{rows.name('rff')}"
    for where, *both in _with_gaussian(rows.of(axis=""), ERROR, "orf", "rff"):
        value, other = (quotient(*samples).value for samples in both)
        text = f"{number(value)} and {number(other)} for gaussian"
        points.append(Point(value - other, value > other, where, what, text))
    arc_cosine = check.keeps_bound(rows.of(kernel=ARC_COSINE), ERROR, "orf", over="rff", above=0.75)
    return [arc_cosine, rows.part(points)]


@claim(
    "survey-43", {"code": "survey-million-code"}, not_testable=SEARCH, datasets=MILLIONS,
    kernel=("gaussian", *ARC_COSINE),
)  # fmt: skip
def slow_on_mnist8m(rows: Rows):
    slower = check.keeps_bound(rows, "time_total_s", "ssf", over=highest(*SEVEN), above=1)
    return [check.keeps_bound(rows, "time_total_s", "lsrff", over="ssf", above=1), slower]


@claim("survey-44", MILLION, datasets=MILLIONS, kernel=("gaussian", "arccos0"))
def lowest_test_error_of_lsrff(rows: Rows):
    """Return the tests of the lowest test error, and of one of the three largest approximation errors."""
    points = []
    for where, samples in rows.places(ERROR, NINE):
        rank = 1 + sum(each.mean > samples[NINE.index("lsrff")].mean for each in samples)
        text = f"{rows.name('lsrff')} is number {rank} from the worst"
        points.append(Point(float(3 - rank), rank <= 3, where, fact_of(ERROR).label, text))
    return [check.is_best(rows, "error_pct", "lsrff", NINE), rows.part(points)]


@claim(
    "survey-45",
    {
        "text": ["survey-gaussian-text", "survey-kernels-text", "survey-images-text", "survey-million-text"],
        "code": ["survey-gaussian-code", "survey-million-code"],
    },
    needs="any",
    datasets=EIGHT_SETS + IMAGE_SETS + MILLIONS,
)
def errors_do_not_decide(rows: Rows):
    """Return the test of the correlation over the methods at one size, for all kernels and classifiers that were run.

    A significantly positive correlation contradicts the claim, with Holm's correction over the sizes of a data set and
    kernel. An accuracy counts as its error.

    Stricter: no correlation is one whose 95 % interval ends below 0.5; one that is only not significant shows nothing.
    """
    accuracies = [_unrelated(rows, ACCURACY, learner) for learner in ("ridge", "svm")]
    return [*accuracies, _unrelated(rows, "error_pct", "logistic", split="test")]


def _unrelated(rows: Rows, metric: str, learner: str, **columns) -> Part:
    key = ("experiment", "dataset", "kernel", *SIZE)
    what = f"rank correlation of {quantity(ERROR)} and {quantity('error_pct', learner)}"
    scores = rows.of(learner=learner, **columns).by_place(metric, NINE, key=key)
    points, tests = {}, {}
    for place, (where, errors) in rows.by_place(ERROR, NINE, key=key).items():
        if place in scores:
            losses = [-check.better(metric) * each.mean for each in scores[place][1]]
            rho = rank_correlation([each.mean for each in errors], losses)
            if not np.isnan(rho.value):
                tests.setdefault(place[:3], {})[place] = rho
                points[place] = check.point(where, rho, rho.high < 0.5 or None, what, f"{rho.value:+.2f}")
    for of_kernel in tests.values():
        for place, test in family(of_kernel).items():
            if test.p < LEVEL:
                points[place] = replace(points[place], holds=False, opposite=True)
    return rows.part(points.values(), metric, NINE)


@claim("survey-57", MEMORY, stricter=AS_EFFECT, datasets=EQUAL_MEMORY, learner="ridge")
def quantised_features_at_equal_memory(rows: Rows):
    """Return the tests of the most accurate bit width at each budget, which favours the claim; RFF is evidence."""
    parts, alone = [], []
    for bits, landmarks in LANDMARKS.items():
        quantised = highest(*(f"lprff/{bits}-bits-by-{width}" for width in BIT_WIDTHS))
        nystroem = side(f"nystroem/{bits}-bits", size=landmarks)
        parts.append(_at_budget(bits, check.better_than(rows, ACCURACY, quantised, nystroem, effect=True)))
        alone.append(_at_budget(bits, check.better_than(rows, ACCURACY, f"rff/{bits}-bits", nystroem)))
    return [*parts, *map(only_evidence, alone)]


def _at_budget(bits: int, part: Part) -> Part:
    """Return the part with the budget as the place of its points, whose sides have sizes of their own."""
    return replace(part, points=[replace(each, place=f"{bits:,} bits") for each in part.points])
