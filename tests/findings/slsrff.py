"""What the findings of `slsrff` rest on: surrogate leverage scores."""

import re

from rfstudy.report.aggregate import settings_of

from .shipped import Held, context, is_effect, one, rounded, told

HELD = Held("slsrff")

FOUR = ["eeg", "cod-rna", "covtype", "magic04"]


def changes(table, step: str, method: str = ""):
    """The changes at one step of the ablation, of one method or of all that it concerns."""
    rows = table("ablation-code")
    rows = rows[(rows["quantity"] == "change") & (rows["step_id"] == step) & rows["value"].notna()]
    return rows[rows["method_id"] == method] if method else rows


@HELD.by(
    "The printed accuracies come out under `code`, not under `text`",
    "With rows standardised",
    "Of SLS-RFF's own",
    "The kernel matrices",
    "As the text",
)
def printed_accuracies(table, text):
    """Verdicts on the printed accuracies under the code's protocol; what differs most; and that the text's protocol
    learns nothing on EEG."""
    cells = table("table-03-cells-code")
    code = cells["verdict"].value_counts()
    compared = code.drop(["not comparable", "not run"], errors="ignore")
    assert told(text, r"(\d+) of the (\d+) printed cells") == [code["reproduced"], compared.sum()]
    differ = cells[cells["verdict"].isin(["better", "worse"])]
    assert told(text, r"(\d+) are too noisy.* and (\d+) differ") == [code["too noisy"], len(differ)]
    own = cells[cells["method_id"] == "slsrff"]
    own = own[~own["verdict"].isin(["not comparable", "not run"])]
    came_out = own[own["verdict"] == "reproduced"]
    counts = [len(own), len(came_out), (came_out["data_set"] == "EEG").sum(), (own["data_set"] == "EEG").sum()]
    assert told(text, r"own (\d+) cells (\d+) are reproduced, and on EEG (\d+) of (\d+)") == counts
    behind = differ[(differ["data_set"] == "EEG") & (differ["method_id"] == "slsrff")]
    assert list(behind["s"]) == ["8d", "16d", "32d", "64d", "128d"]
    ends = [rounded(-end, 1) for end in (behind["difference"].max(), behind["difference"].min())]
    assert told(text, r"stays ([\d.]+) to ([\d.]+) points below the print") == ends
    errors = table("values-approximation-error-code")
    errors = errors[errors["data_set_id"] == "eeg"].groupby("method_id")["value"]
    least = [rounded(errors.min()[method], 1) for method in ("lsrff", "slsrff")]
    pattern = r"LS-RFF are ([\d.]+) and more and those of SLS-RFF ([\d.]+) and more, where RFF has ([\d.]+) at most"
    assert told(text, pattern) == [*least, rounded(errors.max()["rff"], 3)]
    text_cells = table("table-03-cells-text")
    (majority,) = told(text, r"more frequent class, ([\d.]+) %")
    ours = text_cells.loc[text_cells["data_set"] == "EEG", "ours"].dropna()
    assert len(ours) == 32
    assert (ours - majority).abs().max() < 0.1 + 0.05  # a tenth, and the rounding of the share
    trees = text_cells[text_cells["data_set"].str.startswith("covtype")]
    assert trees[["ours", "published"]].notna().all().all()
    ends = [rounded(end) for of in (trees["ours"], trees["published"]) for end in (of.min(), of.max())]
    number = r"([\d.]+)"
    pattern = rf"on covtype it has {number} to {number} %, where {number} to {number} are printed"
    assert told(text, pattern) == ends


@HELD.by(
    "The gain is a smaller penalty",
    "At s =",
    "Leaving the 1/(2s)",
    "Plain RFF with",
    "Scoring cosine and",
    "LS-RFF gains 0.66",
    "Keeping all features",
    "Sorting the columns",
)
def a_smaller_penalty(table, text):
    """The steps that change accuracies, by how much and whether they pass, and the control that explains them."""
    dropped = changes(table, "no-factor-n")
    assert set(zip(dropped["data_set_id"], dropped["method_id"], strict=True)) == {
        (dataset, method) for dataset in FOUR for method in ("rff", "qmc", "lsrff", "slsrff")
    }
    assert all(is_effect(dropped))
    ends = [rounded(end, 1) for end in (dropped["value"].min(), dropped["value"].max())]
    assert told(text, r"by ([\d.]+) to ([\d.]+) points") == ends
    numbers = []
    for method, lifted in (("lsrff", FOUR), ("slsrff", FOUR[:3])):
        longer = changes(table, "code", method).set_index("data_set_id").loc[FOUR]
        assert is_effect(longer) == [dataset in lifted for dataset in FOUR]
        numbers += [rounded(value) for value in longer.loc[lifted, "value"]]
    pattern = r"LS-RFF by ([\d.]+) points on EEG, ([\d.]+) on cod-RNA, ([\d.]+) on covtype and ([\d.]+) on magic04, "
    pattern += r"and SLS-RFF by ([\d.]+), ([\d.]+) and ([\d.]+) on the first three\."
    assert told(text, pattern) == numbers
    control = changes(table, "smaller-penalty", "rff")
    assert len(control) == 2 * len(FOUR)
    assert not any(is_effect(control))
    ends = [rounded(control["value"].min()), rounded(control["value"].max())]
    assert told(text, r"with differences of (-[\d.]+) to ([\d.]+) points in the mean") == ends
    assert set(context("slsrff-ablation").rows["n_features_label"].dropna()) - {""} == {"32d"}
    kept = changes(table, "keep", "slsrff").set_index("data_set_id").loc[FOUR]
    assert is_effect(kept) == [dataset == "covtype" for dataset in FOUR]
    assert told(text, r"lifts SLS-RFF by ([\d.]+) points on covtype") == [rounded(kept.loc["covtype", "value"])]
    numbers = []
    for step in ("columns", "trace"):
        of_step = changes(table, step, "slsrff").set_index("data_set_id").loc[FOUR[:2]]
        assert all(is_effect(of_step))
        numbers += [rounded(abs(value)) for value in of_step["value"]]
    assert (of_step["value"] < 0).all()
    pattern = r"by ([\d.]+) points on EEG and ([\d.]+) on cod-RNA, and not by .* loses ([\d.]+) and ([\d.]+),"
    assert told(text, pattern) == numbers
    permuted = changes(table, "permuted", "slsrff").set_index("data_set_id")
    assert not any(is_effect(permuted.loc[FOUR[:2]]))
    apart = changes(table, "columns", "lsrff").set_index("data_set_id").loc[FOUR]
    assert is_effect(apart) == [dataset == "cod-rna" for dataset in FOUR]
    trace, permuted = (
        changes(table, step, "lsrff").set_index("data_set_id").loc[["cod-rna"]] for step in ("trace", "permuted")
    )
    assert (is_effect(trace), is_effect(permuted)) == ([False], [True])
    numbers = [rounded(apart.loc["cod-rna", "value"]), rounded(-permuted["value"].iloc[0])]
    assert told(text, r"gains ([\d.]+) points by it, on cod-RNA alone, .* lose ([\d.]+) of them\.") == numbers
    resorted = changes(table, "sorted")
    assert len(resorted) == 2 * len(FOUR)
    assert not any(is_effect(resorted))


@HELD.by(
    "Tuned alike, leverage weights gain a tenth of a point at one place of 28",
    "With every method",
    "QMC, which uses",
    "The losses that",
    "Where every repeat",
)
def resampling(table, text):
    """The effects above and below RFF under the tuned protocol, with and without the code's reading. Choices on
    three repeats, or every repeat's own."""
    of_all = table("differences-accuracy-tuned")
    of_all = of_all[of_all["p_value"].notna()]
    rows = of_all[of_all["method_id"].isin(["lsrff", "slsrff"])]
    assert {"", "code"} == set(rows["method_variant"].fillna(""))
    assert set(rows["data_set_id"]) == set(FOUR)
    assert set(rows.loc[rows["data_set_id"] == "covtype", "size"]) == {"d", "2d", "4d", "8d"}
    assert "one choice on three repeats" in text
    chosen = settings_of(context("slsrff-tuned").rows)
    assert {tuple(each["chosen_on"]) for each in chosen if "chosen_on" in each} == {(0, 1, 2)}
    rows = rows.assign(method_variant=rows["method_variant"].fillna(""))
    effects = rows[is_effect(rows)].set_index(["method_id", "method_variant", "data_set_id", "size"])["value"]
    gains, losses = effects[effects > 0], -effects[effects < 0]
    assert len(rows.groupby(["data_set_id", "size"])) == 28
    assert list(gains.index) == [("slsrff", "code", "cod-rna", "32d")]
    pattern = r"is ([\d.]+) points of SLS-RFF in the reading of the code, .* on cod-RNA at 32d"
    assert told(text, pattern) == [rounded(gains.iloc[0])]
    qmc = of_all[of_all["method_id"] == "qmc"]
    qmc = qmc[is_effect(qmc)]
    assert list(zip(qmc["data_set_id"], qmc["size"], strict=True)) == [("cod-rna", "32d")]
    assert rounded(qmc["value"].iloc[0]) == rounded(gains.iloc[0])
    pattern = (
        r"of LS-RFF in the reading of the text, on EEG at 8d and 128d by ([\d.]+) and ([\d.]+) points, on cod-RNA "
        r"at d and 32d by ([\d.]+) and ([\d.]+) and on covtype at 8d by ([\d.]+), of SLS-RFF in the same on covtype "
        r"at 4d and 8d by ([\d.]+) and ([\d.]+), and of SLS-RFF in that of the code on cod-RNA at 16d by (\d+\.\d+)"
    )
    own = (("eeg", "8d"), ("eeg", "128d"), ("cod-rna", "d"), ("cod-rna", "32d"), ("covtype", "8d"))
    named = [("lsrff", "", *at) for at in own] + [("slsrff", "", "covtype", size) for size in ("4d", "8d")]
    named.append(("slsrff", "code", "cod-rna", "16d"))
    assert sorted(losses.index) == sorted(named)
    assert told(text, pattern) == [rounded(losses[at]) for at in named]
    own = table("differences-accuracy-own-tuned")
    own = own[own["value"].notna()]
    assert set(own["data_set_id"]) == {"eeg", "magic04"}
    assert not any(is_effect(own))
    assert "the loss on EEG at 8d among them" in text
    assert "8d" in set(own.loc[own["data_set_id"] == "eeg", "size"])
    by = [own["data_set_id"], own["method_id"], own["method_variant"].fillna("")]
    at = {key: part["value"] for key, part in own.groupby(by)}
    losses = [[-at[dataset, method, ""] for dataset in ("eeg", "magic04")] for method in ("lsrff", "slsrff")]
    pattern = (
        r"LS-RFF is ([\d.]+) to ([\d.]+) points below RFF in the mean on EEG and ([\d.]+) to ([\d.]+) on magic04, "
        r"SLS-RFF ([\d.]+) to ([\d.]+) and ([\d.]+) to ([\d.]+),"
    )
    assert told(text, pattern) == [rounded(end) for both in losses for loss in both for end in (loss.min(), loss.max())]
    spans = []
    for dataset in ("eeg", "magic04"):
        both = [*at[dataset, "lsrff", "code"], *at[dataset, "slsrff", "code"]]
        spans += [rounded(-min(both)), rounded(max(both))]
    pattern = r"they are ([\d.]+) below to ([\d.]+) above and ([\d.]+) below to ([\d.]+) above"
    assert told(text, pattern) == spans


@HELD.by(
    "The surrogate is not an upper bound, as used",
    "The algorithm drops",
    "Put back, the",
)
def no_upper_bound(table, text):
    """The share of frequencies whose score is below the leverage, and what the term does to the accuracy."""
    claims = table("claims-theory-text").set_index("claim")
    (mean,) = told(claims.loc["slsrff-21", "evidence"], r"is below the leverage: [^;]* points, ([\d.]+) in the mean")
    assert mean > 0.5
    for step in ("identity-text", "identity-code"):
        control = changes(table, step, "slsrff")
        assert sorted(control["data_set_id"]) == sorted(FOUR)
        assert control["p_value"].notna().all()
        assert not any(is_effect(control))


@HELD.by(
    "No bound of the theory is exceeded, and plain RFF needs hardly more",
    "On data with",
    "Plain RFF, for",
)
def sizes_of_the_theory(table, text):
    """Verdicts on the bounds, and where plain RFF needs more features than exact leverage sampling."""
    rows = table("table-01-text")
    rows = rows.assign(method_variant=rows["method_variant"].fillna(""))
    bounds = rows[rows["method_id"] != "rff"]
    assert set(bounds["verdict"]) == {"holds"}
    needs = [name for name in rows.columns if re.fullmatch(r"needed_n_\d+", name)]
    assert needs
    more = set()
    for decay, own in rows.groupby("eigenvalues"):
        plain = own[own["method_id"] == "rff"].iloc[0]
        exact = own[(own["method_id"] == "lsrff") & (own["method_variant"] == "whole")].iloc[0]
        more |= {(decay, int(name.split("_")[-1])) for name in needs if plain[name] > exact[name]}
    polynomial = next(decay for decay in rows["eigenvalues"] if "-2t" in decay)
    slowest = next(decay for decay in rows["eigenvalues"] if decay.endswith("n / i"))
    assert "at n = 64 and 128 under polynomial decay and at n = 128 under the slowest" in text
    assert more == {(polynomial, 64), (polynomial, 128), (slowest, 128)}


@HELD.by(
    "In our implementation SLS-RFF takes three times as long as RFF, and LS-RFF longer with every feature",
    "On one thread",
    "LS-RFF takes 2.11",
    "Of the two",
)
def times_of_the_scores(table, text):
    """Times over that of RFF, ours and printed."""
    rows = table("table-03-times-code")
    rows = rows[rows["method_id"].isin(["lsrff", "slsrff"])]
    assert rows["ours"].notna().all()
    assert set(rows["data_set_id"]) == {"eeg", "cod-rna", "magic04", "covtype"}
    surrogate, leverage = (rows[rows["method_id"] == method] for method in ("slsrff", "lsrff"))
    large = surrogate[~surrogate["s"].isin(["d", "2d", "4d"])]
    ends = [rounded(end) for column in ("ours", "published") for end in (large[column].min(), large[column].max())]
    pattern = r"SLS-RFF takes ([\d.]+) to ([\d.]+) times .* from 8d on \(printed: ([\d.]+) to ([\d.]+)\)"
    assert told(text, pattern) == ends
    on_eeg = {
        size: [one(leverage, column, data_set_id="eeg", s=size) for column in ("ours", "published")]
        for size in ("d", "128d")
    }
    (few, printed_few), (many, printed_many) = on_eeg["d"], on_eeg["128d"]
    pattern = r"([\d.]+) times as long as RFF on EEG at d and ([\d.]+) times at 128d \(printed: ([\d.]+) and ([\d.]+)\)"
    assert told(text, pattern) == [rounded(few), rounded(many, 1), rounded(printed_few), rounded(printed_many)]
    both = [part.set_index(["data_set_id", "s"])["ours"] for part in (leverage, surrogate)]
    quicker = both[0] < both[1]
    assert not quicker["covtype"].any()
    assert "LS-RFF at d and 2d on EEG, cod-RNA and magic04 and at 4d on cod-RNA" in text
    three = {(dataset, size) for dataset in ("eeg", "cod-rna", "magic04") for size in ("d", "2d")}
    assert set(quicker[quicker].index) == three | {("cod-rna", "4d")}
    lead = (both[0] / both[1])[large.set_index(["data_set_id", "s"]).index]
    assert told(text, r"by ([\d.]+) to ([\d.]+) times, and LS-RFF") == [rounded(lead.min()), rounded(lead.max(), 1)]
    printed = [part.set_index(["data_set_id", "s"])["published"] for part in (leverage, surrogate)]
    assert (printed[0] > printed[1])[lead.index].all()
    assert surrogate["ours"].min() > 2
