"""The figure of what matters has the gains of the tables of its three experiments."""

import numpy as np
import pandas as pd
import pytest

from rfstudy.render import rows


@pytest.fixture(scope="module")
def drawn(shipped):
    """The gains by row of the figure, in order, and whether the dots are filled."""
    (ax,) = shipped.made("study", "what-matters-all").figure.axes
    labels = {int(tick): label.get_text() for tick, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}
    dots = [each for each in ax.collections if len(each.get_offsets()) > 1]
    assert [text.get_text().split(":")[0] for text in ax.texts] == [
        "Correct the penalty of RFF", "Swap RFF for another map", "Swap RFF (up to 2,048 columns) for another model"
    ]  # fmt: skip
    found = {}
    for each in dots:
        gains, heights = each.get_offsets().T
        filled = each.get_facecolors()[:, :3].sum(axis=1) < 3
        found[labels[round(heights.mean())]] = pd.DataFrame({"gain": gains, "filled": filled})
    return found


def test_the_penalty_gains_what_the_step_of_the_ablation_changes(shipped, drawn):
    steps = rows(shipped.table("slsrff", "ablation-code"), quantity="change", method_id="rff", step_id="no-factor-n")
    np.testing.assert_allclose(drawn["without the factor n"]["gain"], np.sort(steps["value"].astype(float)), atol=0.01)
    assert drawn["without the factor n"]["filled"].all()


def test_maps_gain_their_differences_at_every_place(shipped, drawn):
    table = shipped.table("study", "nested-text").dropna(subset=["d"])
    for method, label in {"nystroem": "Nyström", "orf": "ORF", "qmc": "QMC", "slsrff": "SLS-RFF"}.items():
        own = rows(table, method_id=method).sort_values("difference", key=lambda column: column.astype(float))
        np.testing.assert_allclose(drawn[label]["gain"], own["difference"].astype(float), atol=0.006)
        assert drawn[label]["filled"].sum() == (own["p"].astype(float) < 0.05).sum()


def test_models_gain_where_the_table_of_yardsticks_has_fewer_errors(shipped, drawn):
    table = shipped.table("study", "arena-yardsticks-tuned").dropna(subset=["exact_kernel"])
    own = table[~table["data_set_id"].str.startswith("uci-")]
    gains = np.sort(-(own["error"] * own["exact_kernel"]).astype(float) / 100)
    np.testing.assert_allclose(drawn["exact kernel"]["gain"], gains, atol=0.1)
    clear = (own["exact_kernel_high"].astype(float) < 0) | (own["exact_kernel_low"].astype(float) > 0)
    assert drawn["exact kernel"]["filled"].sum() == clear.sum()
