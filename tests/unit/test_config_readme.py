"""config/README.md explains every key there is: its tables are made from the models that check the configuration."""

import re

from checkouts import CONFIG

from rfstudy import output_models, readme
from rfstudy.output_models import Output
from rfstudy.report import catalogue
from rfstudy.study.kinds.registry import KINDS

PAGE = (CONFIG / "README.md").read_text(encoding="utf-8")


def test_the_page_is_up_to_date_and_has_every_table():
    assert readme.written(PAGE) == PAGE, "run: python -m rfstudy readme"
    assert set(re.findall(r"<!-- table: ([\w -]+) -->", PAGE)) == set(readme.tables())


def test_the_docstring_of_a_grid_names_all_of_its_keys_and_no_other():
    for kind, facts in KINDS.items():
        grid = facts.grid
        if grid and kind != "speed":  # whose keys have keys themselves
            assert set(grid.__annotations__) <= set(re.findall(r"`([\w-]+)`", grid.__doc__)), kind


def test_the_keys_that_kinds_of_outputs_name_exist(monkeypatch):
    for kind in catalogue.kinds():
        assert set(output_models.arguments_of(kind)) <= {*Output.model_fields, *output_models.ADDED}, kind
    monkeypatch.setattr(output_models, "ADDED", ("paper", "protocol", "scorecard"))
    expected = ".kind: claims takes 'brief': give it a type in Output of src/rfstudy/output_models.py"
    assert expected in output_models.problems_of_output({"kind": "claims"})
