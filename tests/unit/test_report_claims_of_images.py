"""The claims of the survey about its two sets of images, on made rows in which they hold and do not."""

import itertools

import pytest
import verdict_rows

from rfstudy import tidy

NINE = ("rff", "orf", "sorf", "rom", "fastfood", "qmc", "ssf", "gq", "lsrff")

#: What the survey states, in short, by method.
ERRORS = dict.fromkeys(NINE, 0.02) | {"orf": 0.01, "ssf": 0.012}
ACCURACY = dict.fromkeys(NINE, 96.0) | {"qmc": 96.2, "lsrff": 95.8}
SECONDS = dict.fromkeys(NINE, 1.0) | {"fastfood": 0.8, "ssf": 1.4, "lsrff": 3.0}

TASKS = {"cifar10-hog": {"label": "CIFAR-10 (HOG features)", "not_comparable": "other features"}}


def frame(errors=ERRORS, accuracy=ACCURACY, seconds=SECONDS, datasets=("mnist", "cifar10-vgg"), repeats=5, last=NINE):
    """Rows of two sizes, of the larger one those of the methods ``last`` alone."""
    rows = []
    for dataset, size, method, repeat in itertools.product(datasets, (1000, 5000), NINE, range(repeats)):
        if size == 5000 and method not in last:
            continue
        shared = {
            "origin": "measured", "preset": "paper", "paper": "survey", "experiment": "survey-images-text",
            "protocol": "text", "dataset": dataset, "kernel": "gaussian", "method": method, "n_features": size,
            "n_features_label": str(size), "n_columns": 2 * size, "repeat": repeat, "n_train": 50000, "d": 784,
            "status": "ok", "settings": {},
        }  # fmt: skip
        noise = 1 + 0.001 * (repeat - 2)
        rows += [
            shared | {"metric": "approximation_error_frobenius", "split": "train", "value": errors[method] * noise},
            shared
            | {"metric": "accuracy_pct", "learner": "svm", "split": "test", "value": accuracy[method] + noise - 1},
            shared | {"metric": "time_feature_s", "value": seconds[method]},
        ]
    return tidy.frame(rows)


def of(identifier, rows, **changed):
    return verdict_rows.found_as(identifier, rows, tasks=TASKS, **{"not_testable": ""} | changed)


IDS = [f"survey-{number}" for number in range(24, 29)]


@pytest.mark.parametrize("identifier", IDS)
def test_a_claim_holds_where_the_means_are_as_it_says(identifier):
    assert of(identifier, frame())[0] == "holds"


@pytest.mark.parametrize(
    ("identifier", "changed", "verdict"),
    [
        ("survey-24", {"errors": ERRORS | {"sorf": 0.011}}, "partly"),  # ORF is below it, SSF is not
        ("survey-24", {"errors": ERRORS | {"orf": 0.03, "ssf": 0.04}}, "contradicted"),
        ("survey-24", {"errors": ERRORS | {"lsrff": 0.005}}, "contradicted"),
        ("survey-25", {"accuracy": ACCURACY | {"gq": 94.9}}, "contradicted"),
        # one repeat: within a point or beyond, and nobody knows by how much it varies
        ("survey-25", {"repeats": 1}, "not testable"),
        ("survey-25", {"repeats": 1, "accuracy": ACCURACY | {"gq": 94.9}}, "not testable"),
        ("survey-26", {"errors": ERRORS | {"sorf": 0.011}}, "partly"),
        ("survey-26", {"accuracy": ACCURACY | {"gq": 94.9}}, "partly"),
        ("survey-27", {"seconds": SECONDS | {"lsrff": 1.5}}, "partly"),
        ("survey-27", {"seconds": SECONDS | {"lsrff": 1.0, "sorf": 0.1}}, "fails"),
        ("survey-28", {"seconds": SECONDS | {"fastfood": 0.6}}, "partly"),
        ("survey-28", {"seconds": SECONDS | dict.fromkeys(("fastfood", "sorf", "rom"), 0.2)}, "fails"),
    ],
)
def test_a_claim_comes_out_the_other_way_where_they_are_not(identifier, changed, verdict):
    assert of(identifier, frame(**changed))[0] == verdict


def test_times_of_ours_say_nothing_of_another_implementation():
    told = verdict_rows.claims()["survey-28"].not_testable
    verdict, evidence = of("survey-28", frame(), not_testable=told)
    assert verdict == "not testable"
    assert evidence.startswith("about the authors' implementation")


def test_a_size_at_which_leverage_scores_were_not_run_still_speaks_for_the_errors():
    rows = frame(last=NINE[:-1], errors=ERRORS | {"lsrff": 0.001})
    assert of("survey-24", rows)[0] == "partly"
    assert of("survey-24", frame(last=NINE[:-1]))[0] == "holds"


def test_other_features_are_told_and_decide_nothing():
    rows = frame(datasets=("mnist", "cifar10-hog"), errors=ERRORS | {"ssf": 0.5})
    verdict, evidence = of("survey-26", rows)
    assert verdict == "not testable"
    assert "other features than the paper's" in evidence
    slow = frame(datasets=("cifar10-hog",), seconds=SECONDS | {"fastfood": 0.1})
    assert of("survey-28", slow)[0] == "not testable"
    assert of("survey-28", frame(datasets=("mnist",)))[0] == "holds"


@pytest.mark.parametrize("identifier", IDS)
def test_stand_ins_say_nothing(identifier):
    assert of(identifier, frame().assign(stand_in="digits (stand-in for MNIST)"))[0] == "not run"
