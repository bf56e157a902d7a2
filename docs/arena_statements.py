"""Simulate how often new data sets confirm the statements of the arena, from the exploratory rows.

Usage: ``python docs/arena_statements.py``. It prints data/reference/arena_statements.csv and the expected numbers of
confirmations. docs/arena.md states the rules.

The true effect of a map is normal around its estimate, and the effects on new data sets around the true one. New data
sets have three draws of each map where the exploratory ones have one. Both deviations correlate by 0.45 between maps,
which share the draws of RFF. LS-RFF with a pool of 4 s has no rows yet. It keeps about 85 % of its frequencies, where
the smaller pool keeps 63 %, so its effects are taken as those of the smaller pool times log(0.85) / log(0.63).

The statements were written when magic04, kin40k, pendulum and bike had no flag. Without these sets the numbers differ.

The numbers of sets are in the order in which they were simulated. For under 12 sets the test is exact, as in the arena.
"""

from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

from rfstudy.render import Shipped
from rfstudy.report import arena
from rfstudy.report.compare import Estimate

SIMULATIONS, SEED, CORRELATION, SETS = 2000, 56, 0.45, (12, 25, 50, 9, 10, 11)
POOL = np.log(0.85) / np.log(0.63)
SAYS = {
    ("orf", ""): "equal", ("qmc", ""): "equal", ("mm", ""): "equal", ("sorf", ""): "equal", ("prf", ""): "better",
    ("nystroem", ""): "better", ("nystroem", "rpcholesky"): "better", ("lsrff", ""): "worse",
}  # fmt: skip


def statements(shipped: Shipped) -> list[dict]:
    """Return the statements, each with the estimate, its error and the deviation on new data sets."""
    spec = shipped.spec("study", "arena-tuned")
    context = shipped.context(*spec["experiments"])
    results = arena.results_of(context, spec["datasets"], "rff", spec["quantity"])
    found = []
    for each in arena.verdicts_of(results, "not flagged", spec["methods"]):
        if each.who in SAYS and (each.who[0], each.band) != ("sorf", "512 to 1,024"):  # nothing points either way
            plain = results.errors.query("method == 'rff' and variant == '' and dataset in @each.own.dataset")
            plain = plain[plain["columns"].isin(arena.BANDS[each.band])]
            draws = plain.groupby(["dataset", "draw"])["log"].mean().groupby("dataset").var().median()
            typical, scale = each.found.typical, POOL if each.who[0] == "lsrff" else 1.0
            variance = typical.error**2 * typical.n
            spread = scale * np.sqrt(max(variance - 2 / 3 * draws, variance / 2))
            named = {"method": each.who[0], "variant": "pool-4" if each.who[0] == "lsrff" else each.who[1]}
            own = {"mean": scale * typical.value, "error": scale * typical.error, "spread": spread}
            found.append(named | {"columns": each.band, "says": SAYS[each.who]} | own)
    return found


def simulated(made: list[dict], sets: int, rng) -> np.ndarray:
    """Return whether each statement is confirmed in each simulation, of shape (simulations, statements)."""

    def shared(*shape):
        """Return standard normal numbers of a shape whose last axis, the statements, correlates."""
        own, common = rng.standard_normal(shape), rng.standard_normal((*shape[:-1], 1))
        return np.sqrt(1 - CORRELATION) * own + np.sqrt(CORRELATION) * common

    mean, error, spread = (np.array([each[key] for each in made]) for key in ("mean", "error", "spread"))
    true = mean + error * shared(SIMULATIONS, 1, len(made))
    effects = true + spread * shared(SIMULATIONS, sets, len(made))
    margin, method = np.log1p(arena.MARGIN), "exact" if sets < min(SETS[:3]) else "asymptotic"

    def combined(effects):
        """Return what ``arena.outcomes`` reads of the effects together, by simulation and statement."""
        sides = ((0.0, "less"), (0.0, "greater"), (margin, "less"), (-margin, "greater"), (0.0, "two-sided"))
        lower, higher, below, above, both = (
            wilcoxon(effects - at, alternative=side, axis=1, method=method).pvalue for at, side in sides
        )
        p = np.stack([both, lower, higher, np.maximum(below, above)], axis=-1)
        return [[arena.Combined(Estimate(np.nan, p=a[0]), None, 0, (0, 0), *a[1:]) for a in own] for own in p]

    everywhere, informative = combined(effects), combined(effects[:, : sets * 4 // 5])
    words = (arena.outcomes(made, list(zip(*own, strict=True))) for own in zip(everywhere, informative, strict=True))
    return np.array([[word in ("confirmed", arena.NEGLIGIBLE) for word in own] for own in words])


if __name__ == "__main__":
    made = statements(Shipped(Path(__file__).resolve().parents[1]))
    rng = np.random.default_rng(SEED)
    by_sets = {sets: simulated(made, sets, rng) for sets in SETS}
    print("method,variant,columns,says", *(f"predicted_{sets}" for sets in sorted(SETS)), sep=",")
    for i, each in enumerate(made):
        named = (each["method"], each["variant"], f'"{each["columns"]}"', each["says"])
        print(*named, *(f"{by_sets[sets][:, i].mean():.2f}" for sets in sorted(SETS)), sep=",")
    for sets, found in by_sets.items():
        low, high = np.quantile(found.sum(axis=1), [0.025, 0.975])
        print(f"# {sets} sets: {found.sum(axis=1).mean():.1f} of {len(made)} expected, 95 % {low:.0f} to {high:.0f}")
