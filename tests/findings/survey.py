"""What the findings of `survey` rest on: the survey's benchmark."""

import re

import pandas as pd

from .shipped import Held, context, is_effect, rounded, told

HELD = Held("survey")


def best(table, protocol: str, dataset: str, criterion: str, group: str, source: str = "measured") -> set[str]:
    """The methods that the table of the best ones lists for a data set, or its remark where it lists none."""
    rows = table(f"table-07-{protocol}")
    rows = rows[(rows["data_set_id"] == dataset) & (rows["source"] == source)]
    rows = rows[(rows["criterion"] == criterion) & (rows["group"] == group)]
    return set(rows["method_id"].fillna(rows["remark"]))


#: The rows of the table of the best methods for the errors of the kernel, and what it says where it lists none.
FEW, MANY = ("approximation", "small s"), ("approximation", "large s")
REMARKS = {"not run", "no verdict", "none stands out"}

SURVEYED = ("ijcnn1", "eeg", "cod-rna", "covtype", "magic04", "letter-am-nz", "skin", "a8a")


NAMES = {"EEG": "eeg", "cod-RNA": "cod-rna", "letter": "letter-am-nz"}


def named_sets(text: str, pattern: str) -> set[str]:
    """The ids of the data sets that the one group of a pattern lists."""
    (listed,) = re.search(pattern, text).groups()
    return {NAMES.get(name, name) for name in re.split(", | and ", listed)}


@HELD.by(
    "Approximation",
    "At few features",
    "SSF, which the",
    "Of what the",
    "At many features",
    "Of thirteen other",
)
def approximation(table, text):
    """Who is among the best approximations at few and many features, and for which data sets the survey lists SSF."""
    printed = [dataset for dataset in SURVEYED if "ssf" in best(table, "text", dataset, *FEW, "published")]
    assert "for six of its eight data sets" in text
    assert len(printed) == 6
    told_apart = {}
    for group in (FEW, MANY):
        found = {dataset: best(table, "text", dataset, *group) for dataset in SURVEYED}
        told_apart[group] = {dataset: of for dataset, of in found.items() if not of & REMARKS}
        # both protocols have the same kernels and, but for LS-RFF, the same maps
        of_code = {dataset: best(table, "code", dataset, *group) for dataset in told_apart[group]}
        assert all(of == told_apart[group][dataset] or of & REMARKS for dataset, of in of_code.items())
    assert all(of & {"orf", "sorf", "rom"} for of in told_apart[FEW].values())
    for group, method, pattern in (
        (FEW, "ssf", r"best on ([^.]+?) alone"),
        (MANY, "qmc", r"QMC is among them on ([^.]+), and ORF"),
        (MANY, "orf", r"and ORF on ([^.]+)\."),
    ):
        assert named_sets(text, pattern) == {dataset for dataset, of in told_apart[group].items() if method in of}
    for protocol in ("text", "code"):
        claims = table(f"claims-{protocol}").set_index("claim")["verdict"]
        assert [claims[f"survey-{number}"] for number in (20, 21, 22)] == ["holds"] * 3
    others = table("values-others-approximation-error-text")
    others = others[others["value"].notna()]
    assert "Of thirteen other maps, run on letter, ijcnn1, covtype and cod-RNA at 2d to 8d," in text
    assert others["method_id"].nunique() == 13
    assert set(others["data_set_id"]) == {"letter-am-nz", "ijcnn1", "covtype", "cod-rna"}
    assert set(others["size"]) == {"2d", "4d", "8d"}
    lowest = others.loc[others.groupby(["data_set_id", "size"])["value"].idxmin(), "method_id"]
    assert set(lowest) == {"nystroem"}


@HELD.by(
    "Prediction",
    "As printed, no",
    "The bandwidths and",
    "Told apart from",
    "The losses are",
    "With LIBLINEAR there",
    "Under `code` there",
)
def prediction(table, text):
    """No best method for ridge regression where it was run but LS-RFF on EEG, and who is told apart from RFF."""
    for protocol in ("text", "code"):
        for group in ("small s", "large s"):
            found = {dataset: best(table, protocol, dataset, "ridge", group) for dataset in SURVEYED}
            run = {dataset: of for dataset, of in found.items() if not of & {"not run", "no verdict"}}
            assert len(run) >= 4
            ahead = {dataset: of for dataset, of in run.items() if of != {"none stands out"}}
            assert ahead == ({"eeg": {"lsrff"}} if (protocol, group) == ("code", "large s") else {})
    rows = table("differences-accuracy-ridge-code")
    rows = rows[(rows["data_set_id"] == "eeg") & (rows["method_id"] == "lsrff") & (rows["size"] == "32d")]
    assert is_effect(rows) == [True]
    assert told(text, r"at 32d it is ([\d.]+)\s+points above RFF") == [rounded(rows["value"].iloc[0])]
    rows = table("differences-accuracy-ridge-text")
    rows = rows[rows["p_value"].notna()]
    assert set(rows["minus_id"]) == {"rff"}
    effects = rows[is_effect(rows)]
    behind = effects[effects["value"] < 0]
    counts = [len(effects), len(rows), len(behind), len(effects) - len(behind)]
    assert told(text, r"under `text` are (\d+) of (\d+) comparisons, (\d+) as losses and (\d+) as") == counts
    by_data = {
        ("lsrff",): ["letter-am-nz", "ijcnn1", "covtype", "cod-rna"],
        ("sorf", "rom", "ssf"): ["skin"],
        ("ssf",): ["cod-rna"],
    }
    told_losses = told(
        text,
        r"losses are ([\d.]+) to ([\d.]+) points of LS-RFF on letter, ijcnn1, covtype and cod-RNA, "
        r"([\d.]+) to ([\d.]+) of SORF, ROM and SSF on skin, and ([\d.]+) to ([\d.]+) of SSF on cod-RNA",
    )
    parts = [
        -behind[behind["method_id"].isin(methods) & behind["data_set_id"].isin(datasets)]["value"]
        for methods, datasets in by_data.items()
    ]
    assert sum(map(len, parts)) == len(behind)
    assert told_losses == [rounded(end) for part in parts for end in (part.min(), part.max())]

    def parted(name):
        rows = table(f"differences-accuracy-{name}")
        rows = rows[is_effect(rows)].set_index(["method_id", "data_set_id", "size"])["value"]
        return rows[rows > 0], rows[rows < 0]

    (only,) = effects[effects["value"] > 0][["method_id", "data_set_id", "size", "value"]].itertuples(index=False)
    assert tuple(only)[:3] == ("ssf", "ijcnn1", "8d")
    assert told(text, r"the gain ([\d.]+) points of SSF on ijcnn1 at 8d") == [rounded(only.value)]
    gains, losses = parted("liblinear-text")
    assert list(gains.index) == [("ssf", "ijcnn1", "4d")]
    pattern = r"there are (\d+) losses and (\d+) gain under `text`, ([\d.]+) points of SSF on ijcnn1 at 4d"
    assert told(text, pattern) == [len(losses), len(gains), rounded(gains.iloc[0])]
    of_code = [parted(f"{learner}-code") for learner in ("ridge", "liblinear")]
    pattern = r"there are (\d+) gains and (\d+) losses with ridge regression and (\d+) gains and (\d+) losses with"
    assert told(text, pattern) == [len(part) for parts in of_code for part in parts]
    gains = pd.concat([gains for gains, _ in of_code])
    own = gains.loc["lsrff"]
    assert set(gains.drop("lsrff").index.get_level_values("method_id")) == {"ssf"}
    assert len(gains) == len(own) + 1
    assert set(own.index.get_level_values("data_set_id")) == {"eeg", "cod-rna"}
    assert told(text, r"EEG and cod-RNA, ([\d.]+) to ([\d.]+) points") == [rounded(own.min()), rounded(own.max())]


@HELD.by(
    "Other kernels",
    "With the arc-cosine",
    "With order 0",
    "On TensorSketch it",
    "On covtype random",
)
def other_kernels(table, text):
    """The lowest errors with the arc-cosine kernels, and accuracies and times of the polynomial kernel's maps."""
    lowest = []
    for kernel in ("arccos0", "arccos1"):
        rows = table(f"values-{kernel}-approximation-error-text")
        rows = rows[rows["method_id"] != "lsrff"]
        lowest += list(rows.loc[rows.groupby(["data_set_id", "size"])["value"].idxmin(), "method_id"])
    either = [method for method in lowest if method in ("ssf", "qmc")]
    counts = [len(either), len(lowest), lowest.count("ssf")]
    assert told(text, r"at (\d+) of (\d+) places .* SSF at (\d+) of them") == counts
    order_0 = table("differences-arccos0-accuracy-ridge-text")
    assert set(order_0["minus_id"].dropna()) == {"rff"}
    effects = order_0[order_0["p_value"] < 0.05]
    own = effects[(effects["data_set_id"] == "ijcnn1") & (effects["method_id"] == "gq")]
    assert list(own["size"]) == ["4d", "8d", "16d", "32d"]
    ends = [rounded(own["value"].min()), rounded(own["value"].max())]
    assert told(text, r"GQ is ([\d.]+) to ([\d.]+) points more accurate than on RFF on ijcnn1 from 4d on") == ends
    own = effects[(effects["data_set_id"] == "skin") & effects["method_id"].isin(["sorf", "rom"])]
    assert set(own["size"]) == {"16d", "32d"}
    assert len(own) == 4
    ends = [rounded(-own["value"].max()), rounded(-own["value"].min())]
    assert told(text, r"SORF and ROM ([\d.]+) to ([\d.]+) points less on skin at 16d and 32d") == ends
    gains = table("differences-polynomial-accuracy-ridge-text")
    assert set(gains["minus_id"].dropna()) == {"rm"}
    sketch = gains[gains["method_id"] == "ts"]
    effects = sketch[sketch["p_value"] < 0.05]
    counts = [int((effects["value"] > 0).sum()), len(sketch)]
    assert told(text, r"random Maclaurin features at (\d+) of (\d+)\s+places") == counts
    assert (effects["value"] < 0).sum() == 1
    by_set = dict(iter(effects[effects["value"] > 0].groupby("data_set_id")))
    assert list(by_set["eeg"]["size"]) == ["4d", "8d", "16d"]
    assert len(by_set["letter-am-nz"]) == 5
    ends = [rounded(end(by_set[name]["value"])) for name in ("eeg", "letter-am-nz") for end in (min, max)]
    pattern = (
        r"on EEG, by ([\d.]+) to ([\d.]+) points at 4d to 16d, and on letter, by ([\d.]+) to ([\d.]+) at all sizes"
    )
    assert told(text, pattern) == ends
    assert all(
        of["value"].max() < min(ends[1], ends[3]) for name, of in by_set.items() if name not in ("eeg", "letter-am-nz")
    )
    times = table("values-polynomial-generation-time-text").pivot(index="size", columns="method_id", values="value")
    assert len(times) == 5
    assert ((times["rm"] < times["trp"]) & (times["trp"] < times["ts"])).all()


@HELD.by(
    "Theory",
    "What the text",
    "Of the lower",
    "NRFF, compared in",
    "ROM with three",
)
def theory_of_the_survey(table, text):
    """Verdicts of the claims, of Table II, and of the numbers of factors of ROM."""
    claims = table("claims-theory-text").set_index("claim")["verdict"]
    assert {claims[f"survey-{number}"] for number in (50, 51, 52, 55)} == {"holds"}
    assert claims["survey-53"] == "not testable"
    rows = table("table-02-text")
    plain = rows[rows["method_variant"].fillna("") == ""].set_index("method_id")
    listed = plain[plain["lower_variance_than_rff"] == "Yes"]["verdict"]
    assert {"mm", "orf", "sgq"} == set(listed.index[listed == "holds"])
    assert "gq" in set(listed.index[listed == "fails"])
    assert {"qmc", "ssf", "rom", "ssr", "nrff"} == set(listed.index[listed == "partly"])
    assert (plain.loc[["mm", "orf", "sgq"], "variance_points_lower"] == 50).all()
    pattern = r"QMC, SSF, ROM and SSR at (\d+), (\d+), (\d+) and (\d+) and that of"
    assert told(text, pattern) == list(plain.loc[["qmc", "ssf", "rom", "ssr"], "variance_points_lower"])
    assert plain.loc["gq", "variance_points_lower"] == 0
    nrff = plain.loc["nrff"]
    points = [nrff[f"variance_points_{how}"] for how in ("lower", "even", "higher")]
    assert told(text, r"lower at (\d+) of (\d+) points and higher at none") == [points[0], sum(points)]
    assert points[2] == 0
    ends = [rounded(nrff[f"at_equal_columns_{end}"]) for end in ("smallest", "largest")]
    assert told(text, r"its variance is ([\d.]+) to ([\d.]+) times\.") == ends
    fastfood = plain.loc["fastfood"]
    assert fastfood["lower_variance_than_rff"] == "No"
    assert fastfood["variance_points_lower"] == fastfood["variance_points_higher"] > 0
    ratios = table("table-02-variance-text")
    ratios = ratios[(ratios["map_id"] == "fastfood") & (ratios["metric"] == "variance_ratio")]
    axis, random = (ratios.loc[ratios["direction"] == which, "value"] for which in ("axis", "random"))
    assert axis.max() < 1 < random.min()
    assert claims["survey-54"] == "fails"
    larger, smaller = {}, {}
    for factors in ("two", "four"):
        larger[factors], smaller[factors] = told_apart_from_rom(factors)
        assert all("axis" in dataset for dataset, _ in larger[factors] + smaller[factors])
    pattern = r"than with two at (\d+) points and than with four at (\d+), all along an axis, and .* with two at (\d+);"
    assert told(text, pattern) == [len(larger["two"]), len(larger["four"]), len(smaller["two"])]
    assert not smaller["four"]


def told_apart_from_rom(factors: str) -> list[list[tuple]]:
    """Where the error of ROM with three factors is told to be larger, and smaller, than with others: by four standard
    errors of the repeats, as the claim has it."""
    rows = context("theory-variance").rows
    rows = rows[(rows["method"] == "rom") & (rows["metric"] == "kernel_mse")]
    errors = rows.pivot_table(index=["dataset", "at", "repeat"], columns="variant", values="value")
    of_place = (errors[""] - errors[factors]).groupby(["dataset", "at"])
    t = of_place.mean() / of_place.sem()
    return [list(t[t > 4].index), list(t[t < -4].index)]


@HELD.by(
    "Double descent",
    "All that the",
    "The test error",
    "With half as",
)
def double_descent(table, text):
    """Verdicts of the claims, the places of the peaks in columns and in frequencies, and what is left beside them."""
    claims = table("claims-double-descent-text").set_index("claim")
    assert dict(claims["verdict"]) == {f"survey-{number}": "holds" for number in (46, 47, 48, 49)}
    places = claims.loc["survey-48", "evidence"]
    on_both = r"{}[^:;]*, largest at {}/n: sonar ([\d.]+); MNIST \(1-2\) ([\d.]+)"
    for layout in ("RFF,", r"RFF \(random phases\)"):
        assert told(places, on_both.format(layout, "columns")) == [1.0, 1.0]
    assert "at s = n/2 for [cos | sin] and at s = n for random phases" in text
    assert told(places, on_both.format("RFF,", "frequencies")) == [0.5, 0.5]
    assert told(places, on_both.format(r"RFF \(random phases\)", "frequencies")) == [1.0, 1.0]
    for columns, said in (("0.5", r"([\d.]+) to ([\d.]+) % of that"), ("2", r"twice as many ([\d.]+) to ([\d.]+) %")):
        beside = rf"columns/n = {columns} over the peak: sonar ([\d.]+); MNIST \(1-2\) ([\d.]+)"
        shares = [
            100 * float(each) for pair in re.findall(beside, claims.loc["survey-49", "evidence"]) for each in pair
        ]
        assert len(shares) == 4
        assert told(text, said) == [round(min(shares), 1), round(max(shares), 1)]


@HELD.by(
    "Table IX",
    "On 50,000 digits",
    "The errors of",
    "In all LS-RFF",
)
def printed_for_millions(table, text):
    """Approximation errors over those printed, test errors and total times beside them, of all nine maps."""
    rows = table("table-09-code")
    sides = rows.pivot_table(index=["quantity", "kernel", "method_id"], columns="source", values="value").dropna()

    def ends(values):
        return [rounded(values.min()), rounded(values.max())]

    def parted(quantity):
        """Those of LS-RFF and those of the others."""
        own = sides.loc[quantity]
        is_own = own.index.get_level_values("method_id") == "lsrff"
        return own[is_own], own[~is_own & (own.index.get_level_values("method_id") != "rff")]

    ratios = sides.loc["approximation error"].pipe(lambda own: own["ours"] / own["published"])
    assert len(ratios) == 3 * 9
    others = ratios.drop("lsrff", level="method_id")
    pattern = r"nine maps are ([\d.]+) to ([\d.]+) times those printed, without LS-RFF ([\d.]+) to ([\d.]+)\s+times"
    assert told(text, pattern) == ends(ratios) + ends(others)
    errors = sides.loc["logistic regression error"]
    pattern = r"err on ([\d.]+) to ([\d.]+) % of\s+the test rows, where ([\d.]+) to ([\d.]+) % are printed"
    assert told(text, pattern) == ends(errors["ours"]) + ends(errors["published"])
    slow, quick = parted("total time over that of RFF")
    pattern = r"takes ([\d.]+) to ([\d.]+) times as long as RFF \(printed: ([\d.]+) to\s+([\d.]+)\), "
    assert told(text, pattern) == ends(slow["ours"]) + ends(slow["published"])
    pattern = r"the other maps ([\d.]+) to ([\d.]+) times \(([\d.]+) to ([\d.]+)\)"
    assert told(text, pattern) == ends(quick["ours"]) + ends(quick["published"])
