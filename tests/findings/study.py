"""What the findings of `study` rest on: what the benchmark data measure."""

from .shipped import Held, is_effect, rounded, told

HELD = Held("study")


@HELD.by(
    "EEG measures interpolation in time",
    "On random halves,",
    "Closed eyes are",
)
def in_time(table, text):
    """Accuracies on random halves and on halves in time, and the shares of closed eyes in these."""
    rows = table("eeg-splits-code").set_index(["split", "column"])["value"]
    halves, machines = ("random halves", "first half trains", "second half trains"), ("RFF, code", "RFF, tuned")
    number = r"([\d.]+)"
    pattern = rf"has {number} %, RFF {number} under `code` and {number} tuned; .* they have {number}, {number} and "
    pattern += rf"{number}, and the other way round {number}, {number} and {number}\."
    found = [rounded(rows[half, column]) for half in halves for column in ("nearest neighbour", *machines)]
    assert told(text, pattern) == found
    shares = table("eeg-class-shares-code").set_index(["split", "column"])["value"]
    found = [rounded(shares["first half trains", part]) for part in ("training part", "test part")]
    assert told(text, r"are ([\d.]+) % of the first half and ([\d.]+) of the second\.") == found


@HELD.by(
    "Four rows decide what columns of EEG scaled to [0, 1] are worth",
    "Without them RFF",
    "Under `code`, which",
)
def four_rows(table, text):
    """Accuracies of RFF with and without the four rows, and which changes pass."""
    rows = table("eeg-spikes-code").set_index(["protocol_and_method", "column"])
    pair = ("without the four", "all rows")
    found = [
        rounded(rows.loc[(f"{protocol}, RFF", column), "value"])
        for protocol in ("text", "text without the factor n")
        for column in pair
    ]
    pattern = r"has ([\d.]+) % in place of ([\d.]+) at 8d .* and ([\d.]+) in place of ([\d.]+) without the factor n"
    assert told(text, pattern) == found
    changed = rows.xs("without the four minus all rows", level="column")
    effects = dict(zip(changed.index, is_effect(changed), strict=True))
    scaled = {name for name, passes in effects.items() if passes}
    assert scaled == {name for name in effects if name.startswith("text")}
    assert {name.split(",")[0] for name in set(effects) - scaled} == {"code", "tuned"}


@HELD.by(
    "A pool of s frequencies costs LS-RFF accuracy",
    "On EEG at",
    "From a pool",
)
def pools(table, text):
    """How far sampling by scores is below RFF by the size of the pool, and where the difference passes."""
    rows = table("pool-size-code").set_index(["pool_and_size", "column"])
    assert {name.split(",")[0] for name, _ in rows.index} == {"s = 8d"}

    def below(pool, method):
        one = rows.loc[f"s = 8d, pool of {pool}", f"{method} minus RFF"]
        return rounded(-one["value"]), rounded(one["p_value"], 3)

    pattern = r"it is ([\d.]+) points below RFF \(p = ([\d.]+)\), and SLS-RFF ([\d.]+) \(p = ([\d.]+)\)\."
    assert told(text, pattern) == [*below("s", "LS-RFF"), *below("s", "SLS-RFF")]
    pairs = rows[[column.endswith("minus RFF") for _, column in rows.index]]
    passing = [place for place, passes in zip(pairs.index, is_effect(pairs), strict=True) if passes]
    assert passing == [("s = 8d, pool of s", "LS-RFF minus RFF")]
    largest = [below("16s", method)[0] for method in ("LS-RFF", "SLS-RFF")]
    assert told(text, r"with 16s they are ([\d.]+) and ([\d.]+) points below\.") == largest
