"""How many features leverage sampling needs: the bounds of Liu et al. (AAAI 2020) next to measurements.

The rows are those of the kind ``requirement``: risks by size.
"""

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import methods_shown, select, settings_of
from rfstudy.report.cells import absent, exponent, method_cell
from rfstudy.report.compare import LEVEL, MIN_REPEATS, Estimate, paired
from rfstudy.report.context import Context
from rfstudy.report.estimates import SIGMAS, power_law
from rfstudy.report.typeset import Cell, Table

#: What one requirement is for.
PLACE = ["decay", "n", "method", "variant"]

#: The bounds of Table 1 as printed: functions of n. The polynomial decay that is measured has t = 1.
BOUNDS = {
    "log^2 n": lambda n: np.log(n) ** 2,
    "sqrt(n) loglog n": lambda n: np.sqrt(n) * np.log(np.log(n)),
    "n^(1/(4t)) log n": lambda n: n**0.25 * np.log(n),
    "sqrt(n) log n": lambda n: np.sqrt(n) * np.log(n),
}

#: Of the interval of a requirement.
CONFIDENCE = 1 - LEVEL


def decay_of(printed: str) -> str:
    """Return "exponential" for "eigenvalue decay exponential: lambda_i ~ n exp(-c i), c > 0"."""
    return printed.split(":")[0].split()[-1]


def stated_bounds(published: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the name in ``BOUNDS`` of the bound of every decay and method among printed rows."""
    rows = select(published, metric="required_features_bound")
    texts = [s["text"].removeprefix("s >= ") for s in settings_of(rows)]
    return {
        (decay_of(name), method): text
        for name, method, text in zip(rows["dataset"], rows["method"], texts, strict=True)
    }


def features_needed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest size from which on the mean risk stays within the tolerance of that of the exact kernel.

    Returns one row per decay, n, method and variant (``PLACE``), with ``s`` (missing if the largest size is not within
    the tolerance either); ``largest``, the largest size that was measured; ``step``, the largest ratio of neighbouring
    sizes; ``exact``, the mean risk of the exact kernel; and between which sizes the requirement lies: from the first
    one from which on none is surely too small (``lower``) to the first from which on all are surely enough (``upper``),
    by the intervals of the mean excess of the risk over what is tolerated (``compare.paired``). Infinite means beyond
    the largest size.
    """
    rows = select(frame, metric=["risk", "risk_exact"], status="ok")
    rows = rows.assign(
        n=rows["n_train"],
        decay=rows["kernel"].str.removeprefix("circle-"),
        tolerance=[s.get("tolerance", np.nan) for s in settings_of(rows)],
    )[[*PLACE, "metric", "n_features", "repeat", "value", "tolerance"]]
    found = []
    for place, cell in rows.groupby(PLACE, sort=False):
        exact = select(cell, metric="risk_exact").set_index("repeat")["value"]
        risks = select(cell, metric="risk").pivot(index="repeat", columns="n_features", values="value")
        tolerated = 1.0 + cell["tolerance"].iloc[0]
        sizes = risks.columns.to_numpy(dtype=float)
        excess = risks.sub(tolerated * exact, axis=0).dropna()
        tests = [paired(excess[size]) for size in risks]
        lower, upper = (
            _from_which_on(np.array([getattr(test, end) <= 0 for test in tests]), sizes, beyond=np.inf)
            if len(excess) >= MIN_REPEATS
            else np.nan
            for end in ("low", "high")
        )
        own = {"s": _from_which_on(risks.mean().to_numpy() <= tolerated * exact.mean(), sizes)}
        own |= {"lower": lower, "upper": upper, "largest": risks.columns.max()}
        own |= {"step": np.max(sizes[1:] / sizes[:-1], initial=1.0), "exact": exact.mean()}
        found.append(dict(zip(PLACE, place, strict=True)) | own)
    return pd.DataFrame(found, columns=[*PLACE, "s", "lower", "upper", "largest", "step", "exact"])


def _from_which_on(holds: np.ndarray, sizes: np.ndarray, beyond: float = np.nan) -> float:
    """Return the first of rising sizes from which on something holds; ``beyond`` if it does not at the last one."""
    first = np.flatnonzero(~holds)[-1] + 1 if not holds.all() else 0
    return float(sizes[first]) if first < len(sizes) else beyond


def growth_of_need(needed: pd.DataFrame) -> Estimate | None:
    """Return the power of n with which a requirement grows (rows of one place but n), None with fewer than three met.

    A size is known up to the step between sizes only: its logarithm is off by up to a step, evenly, which enters the
    error next to that of the fit.
    """
    met = needed[needed["s"].notna()]
    power = power_law(met["n"], met["s"])
    if power is None:
        return None
    spread = np.log(met["n"].to_numpy(dtype=float))
    of_steps = np.log(met["step"].max()) / np.sqrt(12.0 * ((spread - spread.mean()) ** 2).sum())
    return power._replace(error=float(np.hypot(power.error, of_steps)))


def size_text(s: float, largest: int) -> str:
    """Return a requirement in words; one that was not met is more than the largest size."""
    return f"> {largest}" if np.isnan(s) else f"{s:.0f}"


#: The cell of an n that was not run.
NOT_RUN = absent("not run", "more than")

NEED_NOTE = (
    "Needed: the smallest s from which on the mean risk of ridge regression at lambda = n^(-1/2) is within "
    "{tolerance:g} % of that of the exact kernel on the same data. The theorem behind the bounds allows a loss of "
    "2 lambda. whole: frequencies drawn from the whole distribution, as in the theorems (the surrogate with its "
    "identity term); otherwise from a pool of s, as in the algorithms (without it)."
)

NEED_VERDICT_NOTE = (
    "Power of n: ± the standard error of the fit and of the steps between sizes. Power of the bound: of its formula, "
    f"fitted over the same n. Verdict: a bound holds unless what is needed grows faster than it by {SIGMAS:g} standard "
    "errors; its constant is not stated."
)

DATA_NOTE = (
    "Data: x uniform on a circle, labels -1 and +1 whose mean is a sum of three harmonics; kernels of {terms:,} "
    "harmonics, the polynomial decay with t = 1. Repeats: {repeats}, draws of a map in each: {draws}."
)


def make(context: Context, *, paper: str, published: str, methods: list[str]) -> Table:
    """Return the stated bounds on the number of features and what was needed at every n.

    A row per decay of the eigenvalues and way of sampling.
    """
    frame, rows = context.rows, []
    printed = select(context.published, paper=paper, experiment=published, metric="required_features_bound")
    bounds, needed = stated_bounds(printed), features_needed(frame)
    for formula in printed["dataset"].unique():
        of_decay = select(needed, decay=decay_of(formula))
        for method, variant in methods_shown(of_decay, methods):
            ours, bound = select(of_decay, method=method, variant=variant), bounds.get((decay_of(formula), method), "")
            met = ours.dropna(subset="s")["n"].to_numpy(dtype=float)
            power, stated = growth_of_need(ours), power_law(met, BOUNDS[bound](met)) if bound else None
            cells = {row.n: _needed(row.s, row.largest) for row in ours.itertuples()}
            verdict = "not run" if bound else "no claim"
            if power and stated:
                verdict = "holds" if power.value <= stated.value + SIGMAS * power.error else "fails"
            rows.append(
                {
                    "eigenvalues": formula.split(": ", 1)[1],
                    "method": method_cell(context, method, variant),
                    "stated": bound,
                    **{f"needed, n = {n}": cells.get(n, NOT_RUN) for n in sorted(set(needed["n"]))},
                    "power of n": exponent(power),
                    "power of the bound": Cell(f"{stated.value:.2f}", {"": stated.value}) if stated else "",
                    "verdict": verdict,
                }
            )
    risks = select(frame, metric="risk")
    settings, remarks = settings_of(risks), [NEED_VERDICT_NOTE]
    if settings:
        about = settings[0] | {"repeats": risks["repeat"].nunique()}
        tolerance = 100 * max(each["tolerance"] for each in settings)
        remarks = [NEED_NOTE.format(tolerance=tolerance), NEED_VERDICT_NOTE, DATA_NOTE.format(**about)]
    return Table(pd.DataFrame(rows), remarks, shown=frame)


def _needed(s: float, largest: int) -> Cell:
    """Return the cell of a requirement; of one that was not met, the largest size that is not enough."""
    return Cell(size_text(s, largest), {"": s, "more than": largest if np.isnan(s) else None, "remark": ""})
