"""Which outputs a run can draw, from which rows, and into which files."""

from rfstudy import outputs


def output(name, form, *experiments, paper="survey", kind="grid"):
    return {"name": f"{name}-text", "form": form, "paper": paper, "experiments": list(experiments), "kind": kind}


TABLE, FIGURE = output("table-01", "tables", "a"), output("figure-01", "figures", "a", "b")
FACTS, ELSEWHERE = output("facts", "tables"), output("table-02", "tables", "c", "b")
ALL = [TABLE, FIGURE, FACTS, ELSEWHERE]


def test_a_run_draws_outputs_of_which_it_has_all_experiments():
    assert outputs.drawable(ALL, {"a", "b"}) == [TABLE, FIGURE, FACTS]


def test_experiments_that_are_left_out_do_not_hinder_an_output_of_others():
    found = outputs.drawable(ALL, {"a"}, left_out={"b"})
    assert found == [TABLE, FIGURE | {"experiments": ["a"]}, FACTS]
    assert outputs.drawable([FIGURE], {"c"}, left_out={"a", "b"}) == []  # of an output with rows, some must be there


def test_shipped_rows_draw_outputs_of_which_they_have_one_experiment():
    assert outputs.drawable_in_part(ALL, {"b", "d"}) == [FIGURE, FACTS, ELSEWHERE]


def test_paths_have_the_collection_and_the_paper():
    stem = "figures/quick/survey/table-01-text"
    assert outputs.files_of("quick", TABLE) == [f"{stem}.{ending}" for ending in ("csv", "md", "tex", "txt")]
    assert outputs.results_of("measured", "a") == "data/measured/a.csv.xz"
    assert outputs.results_of("quick", "a") == "results/quick/a.csv"
    assert outputs.experiments_of([FIGURE, ELSEWHERE]) == ["a", "b", "c"]
