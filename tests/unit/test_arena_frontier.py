"""The frontier: a cell is the fit at the settings that it reports; costs, the best map within a cost, crossovers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import study_toys as toys
from joblib import cpu_count
from report_rows import METHODS, context_of, spec_of
from sklearn.linear_model import Ridge
from sklearn.model_selection import ShuffleSplit
from verdict_rows import row

from random_features.arrays import seed_of
from random_features.kernels import make_kernel
from random_features.length_scales import median_distance
from rfstudy import tidy
from rfstudy.report import plots, tables, typeset
from rfstudy.report.tables.frontier import BY_CHOLESKY, RANK, best_within, costs_of, crossover, operations
from rfstudy.study import yardsticks
from rfstudy.study.kinds import frontier


@pytest.fixture
def job(tmp_path):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3)).astype(np.float32)
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=400) + 50
    folder = toys.write_data(tmp_path / "numbers", X, y, target="regression")
    toy = toys.selected(
        kind="frontier", methods=[{"method": "rff"}, {"method": "nystroem"}], repeats=2,
        grid={"n_train": [100, 250, 390], "n_test": 50, "n_columns": [16, 64]},
        **dict.fromkeys(("sizes", "approximation", "search", "learners", "bandwidth")),
    )  # fmt: skip
    (spec,) = toys.parts("measure", toy)
    return toys.job("measure", spec, folder, tmp_path / "journal")


def test_cells_are_the_exact_kernel_and_maps_on_as_many_rows_as_there_are(job):
    cells = frontier.cells(job)
    assert {cell.coordinates["variant"] for cell in cells} == {"100", "250"}
    assert len(cells) == 2 * 2 * (1 + 2 * 2)
    capped = frontier.cells(replace(job, spec=job.spec | {"max_rows": 200}))
    assert {(cell.coordinates["variant"], cell.conditions["largest"]) for cell in capped} == {("100", 100)}


def test_the_same_rows_test_for_every_number_of_training_rows(job):
    few, many = (frontier.sample_of(job, 1, n, 50, 250) for n in (100, 250))
    assert np.array_equal(few.y_test, many.y_test)
    assert np.array_equal(few.X_train, many.X_train[:100])
    assert np.array_equal(few.y_train, many.y_train[:100])
    assert not np.array_equal(few.y_test, frontier.sample_of(job, 0, 100, 50, 250).y_test)


def test_rows_beyond_the_few_do_not_change_the_choice(job, monkeypatch):
    monkeypatch.setattr(yardsticks, "CHOSEN_ON", 80)
    settings, asked = {}, []
    monkeypatch.setattr(frontier, "choose", lambda *given, own=frontier.choose: asked.append(given) or own(*given))
    for cell in frontier.cells(job):
        (row,), _ = toys.measured(frontier, job, cell)
        place = cell.entry.get("method", ""), cell.coordinates.get("n_columns"), cell.coordinates["repeat"]
        assert settings.setdefault(place, row["settings"]) == row["settings"]
    assert len(settings) == len(asked) == 2 * (1 + 2 * 2)
    assert {len(given[3]) for given in asked} == {80}


def ridge(Z, y, T, penalty):
    """Predictions at T of ridge regression with an intercept."""
    return Ridge(len(y) * penalty).fit(Z, y).predict(T)


def test_a_cell_is_the_fit_at_the_settings_that_it_reports(job):
    for cell in frontier.cells(job)[:5]:
        (row,), _ = toys.measured(frontier, job, cell)
        settings, repeat = row["settings"], cell.coordinates["repeat"]
        sample = frontier.sample_of(job, repeat, 100, 50, 250)
        assert (len(sample.y_train), len(sample.y_test)) == (100, 50)
        kernel = make_kernel({"name": "gaussian", "length_scale": settings["length_scale"]})
        if cell.entry:
            s = row["n_features"]
            assert s * (2 if cell.entry["method"] == "rff" else 1) == cell.coordinates["n_columns"]
            phi = job.feature_map(cell.entry, kernel, s, repeat).fit(sample.X_train, sample.y_train)
            Z, T = (phi.transform(X).astype(float) for X in (sample.X_train, sample.X_test))
            predicted = ridge(Z, sample.y_train, T, settings["penalty"])
        else:
            X, T, centre = sample.X_train.astype(float), sample.X_test.astype(float), sample.y_train.mean()
            system = kernel(X) + 100 * settings["penalty"] * np.eye(100)
            predicted = kernel(T, X) @ np.linalg.solve(system, sample.y_train - centre) + centre
        assert row["value"] == pytest.approx(np.sqrt(np.mean((predicted - sample.y_test) ** 2)), rel=1e-3)


def test_a_map_is_chosen_by_the_half_of_the_rows_that_it_did_not_see(job):
    cell = next(cell for cell in frontier.cells(job) if cell.entry.get("method") == "rff")
    (row,), _ = toys.measured(frontier, job, cell)
    sample = frontier.sample_of(job, 0, 100, 50, 250)
    rng = np.random.default_rng(seed_of(job.spec.seed, "yardstick", 0))
    ((seen, scored),) = ShuffleSplit(1, test_size=0.5, random_state=0).split(sample.X_train)
    X, y, found = sample.X_train, sample.y_train, {}
    for length_scale in yardsticks.FACTORS * median_distance(X, rng):
        kernel = make_kernel({"name": "gaussian", "length_scale": float(length_scale)})
        phi = job.feature_map(cell.entry, kernel, 8, 0).fit(X[seen], y[seen])
        Z, T = (phi.transform(X[rows]).astype(float) for rows in (seen, scored))
        for penalty in frontier.PENALTIES:
            errors = ridge(Z, y[seen], T, penalty) - y[scored]
            found[float(length_scale), float(penalty)] = np.mean(errors**2)
    reported = found[row["settings"]["length_scale"], row["settings"]["penalty"]]
    assert reported == pytest.approx(min(found.values()), rel=1e-3)


def test_all_work_of_a_cell_is_one_phase_at_its_settings(job):
    units = frontier.timed(job, {})
    assert len(units) == 2 * 2 * (1 + 2 * 2)
    assert {(*unit.phases, unit.threads) for unit in units} == {("total", None), ("all_cores", cpu_count())}
    measured = {
        (cell.entry.get("method", ""), cell.coordinates["variant"], cell.coordinates.get("n_columns")): cell
        for cell in frontier.cells(job)
        if cell.coordinates["repeat"] == 0
    }
    for unit in units:
        place = unit.entry.get("method", ""), unit.entry["variant"], unit.columns.get("n_columns")
        (row,), _ = toys.measured(frontier, job, measured[place])
        ((predictions, _),) = (run() for run in unit.phases.values())
        y_test = frontier.sample_of(job, 0, int(place[1]), 50, 250).y_test
        assert row["value"] == pytest.approx(np.sqrt(np.mean((predictions - y_test) ** 2)))


def test_all_methods_take_part_in_few_rounds_on_many_rows(job, monkeypatch):
    monkeypatch.setattr(yardsticks, "BY_CHOLESKY", 200)
    units = frontier.timed(job, {})
    assert {unit.entry.get("method", "") for unit in units} > {""}
    assert {(unit.entry["variant"], bool(unit.rounds)) for unit in units} == {("100", False), ("250", True)}


def test_operations_are_those_of_the_solver_that_runs_counted_term_by_term():
    assert (RANK, BY_CHOLESKY) == (yardsticks.RANK, yardsticks.BY_CHOLESKY)
    # d = 1 in 4 rows: 6 kernel values of 31, their factor, and 2 predictions of 32 a row
    assert operations("", 4, 2, 1, 0) == 16 * 31 / 2 + 64 / 6 + 2 * 4 * 32
    n, m = 20000.0, 4000.0
    by_steps = 10 * n**2 * 21 + n * 1500 * (1500 + 40 + 14) + m * n * 41
    assert operations("", n, m, 10, 0, steps=7) == pytest.approx(by_steps, rel=1e-12)
    assert operations("rff", 100, 10, 6, 8) == 100 * 64 / 2 + 512 / 6 + 110 * 8 * 33
    assert operations("rff", 8, 10, 6, 100) == 64 * 100 / 2 + 512 / 6 + 18 * 100 * 33  # the rows' Gram matrix
    of_nystroem = 100 * 64 / 2 + 512 / 6 + 210 * 8 * 36 + 160 * 64 + 4 * 512
    assert operations("nystroem", 100, 10, 6, 8) == pytest.approx(of_nystroem, rel=1e-12)


def rows_of(errors, seconds):
    """Rows by (method, n, D): errors by repeat and seconds by round."""
    shared = {"paper": "study", "experiment": "arena-frontier", "protocol": "tuned", "dataset": "uci-kin40k", "d": 8}
    rows = []
    for (method, n, columns), of_repeats in errors.items():
        own = shared | {"method": method, "variant": str(n), "n_train": n, "n_test": 100}
        own |= {"n_features_label": str(columns)} if method else {}
        own |= {"learner": "ridge" if method else "exact_kernel"}
        rows += [row("rmse", value, repeat=r, split="test", **own) for r, value in enumerate(of_repeats)]
        for metric, share in (("time_total_s", 1), ("time_all_cores_s", 1 if method else 0.5)):
            of_rounds = enumerate(seconds[method, n, columns])
            rows += [row(metric, share * value, axis="round", at=r, **own) for r, value in of_rounds]
    return tidy.frame(rows)


ERRORS = {
    ("", 1000, 0): [0.30, 0.32], ("", 4000, 0): [0.20, 0.22], ("", 16000, 0): [0.10, 0.12],
    ("rff", 1000, 256): [0.4, 0.4], ("rff", 16000, 256): [0.15, 0.15], ("nystroem", 16000, 1024): [0.05, 0.06],
}  # fmt: skip
SECONDS = {
    ("", 1000, 0): [0.3, 0.2, 0.4], ("", 4000, 0): [2, 2, 2], ("", 16000, 0): [40, 50, 60],
    ("rff", 1000, 256): [0.1] * 3, ("rff", 16000, 256): [1] * 3, ("nystroem", 16000, 1024): [30] * 3,
}  # fmt: skip


def tabulated(rows):
    """The table of made rows: the cells of their data set as CSV, and its notes."""
    found = tables.make(context_of(rows, METHODS), spec_of("arena-frontier-tuned", "study"))
    for form in (typeset.markdown, typeset.latex):
        form(found)
    return typeset.one_number_per_cell(found).query("data_set_id == 'uci-kin40k'"), found.notes


def test_the_exact_kernel_is_compared_with_the_best_map_that_costs_no_more():
    rows = rows_of(ERRORS, SECONDS)
    points = costs_of(rows)
    at = points.set_index(["method", "n"]).loc[("", 1000)]
    assert (at["seconds"], at["on_all_cores"]) == pytest.approx((0.3, 0.15))
    maps = points[points["method"] != ""]
    assert best_within(maps, "seconds", 0.05) is None
    assert best_within(maps, "seconds", 29.9)["n"] == 16000
    assert best_within(maps, "seconds", 30.0)["method"] == "nystroem"
    every, notes = tabulated(rows)
    cells = every[every["cost"] == "time (s)"]
    assert cells["best_map_id"].tolist() == ["rff", "rff", "nystroem"]
    # the exact kernel takes half as long on all cores, and Nyström is too long there
    assert every[every["cost"] == "time on all cores (s)"]["best_map_id"].tolist() == ["rff", "rff", "rff"]
    ratio = np.exp(np.mean(np.log([0.30 / 0.4, 0.32 / 0.4])))
    assert cells["relative"].iloc[0] == pytest.approx(100 * (ratio - 1), abs=0.06)
    assert cells["cost_of_the_map"].tolist() == [0.1, 1, 30]
    assert any("the best map beyond n* =" in note for note in notes)


def test_the_crossover_is_on_straight_lines_in_the_logarithm_of_n():
    gaps = pd.DataFrame({1000: [-0.2, -0.6], 4000: [0.2, 0.2]})
    # the second repeat crosses at three quarters of the way: 1,000 * 4^0.75
    assert crossover(gaps) == "the exact kernel beyond n* = 2,000 (2,000 to 2,800)"
    assert crossover(-gaps).startswith("the best map beyond n* = 2,000")
    assert crossover(gaps.abs()) == "the exact kernel has the lower error at every n compared"
    gaps = pd.DataFrame({1000: [0.1, 0.1, 0.1], 4000: [-0.01, -0.01, 0.5]})
    assert crossover(gaps) == "undecided, as the repeats differ at n = 4,000"


def test_the_best_map_is_chosen_by_the_other_repeats():
    errors = {("", 1000, 0): [0.3, 0.3], ("rff", 1000, 256): [0.1, 0.5], ("orf", 1000, 256): [0.5, 0.2]}
    rows = rows_of(errors, dict.fromkeys(errors, [0.2] * 3))
    maps = costs_of(rows)[lambda points: points["method"] != ""]
    assert [best_within(maps, "seconds", 1, without)["method"] for without in (None, 0, 1)] == ["rff", "orf", "rff"]
    cells, _ = tabulated(rows)
    (row,) = cells[cells["cost"] == "time (s)"].to_dict("records")
    assert row["error_of_the_map"] == 0.5  # each was lucky in the repeat that chose it
    assert row["relative"] == -40


def test_a_time_that_is_missing_is_stated():
    _, notes = tabulated(rows_of(ERRORS, SECONDS | {("nystroem", 16000, 1024): []}))
    assert sum("1 fits without a time are left out" in note for note in notes) == 1


def test_the_picture_has_the_lowest_error_at_each_cost():
    picture = plots.picture(context_of(rows_of(ERRORS, SECONDS), METHODS), spec_of("arena-cost-tuned", "study"))
    (ax,) = picture.figure.axes
    assert ax.get_xlabel() == "time (s)"
    lines = {tuple(line.get_xdata()): tuple(line.get_ydata()) for line in ax.lines}
    assert lines[0.3, 2, 50] == pytest.approx((0.31, 0.21, 0.11))
    most = max(line.get_xdata()[-1] for line in ax.lines)
    assert lines[0.3, 2, 50, most] == pytest.approx((0.31, 0.21, 0.11, 0.11))
    stairs = [line for line in ax.lines if line.get_drawstyle() == "steps-post"]
    assert all((np.diff(line.get_ydata()) <= 0).all() for line in stairs)
    assert "exact kernel" in [text.get_text() for text in ax.texts]
