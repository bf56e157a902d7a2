"""Write the JSON schemas of the configuration, for editors that complete keys and mark mistakes in YAML files.

The checks of the study say more. A schema requires no key, because an entry may inherit it (``extends``), and allows a
null for every key, which removes it.
"""

import json
from pathlib import Path

from pydantic import RootModel, create_model

from rfstudy import output_models
from rfstudy.data import forms, sources
from rfstudy.files import write_text
from rfstudy.planning import models, settings

#: What an experiment of any kind may state, and its own name for the one that it starts from.
Experiment = create_model("Experiment", __base__=(models.AccuracyGrid, models.WithGrid), extends=(str, None))
Output = create_model("Output", __base__=output_models.Output, extends=(str, None))
Names = str | list[str]
Task = create_model(
    "Task", __base__=tuple(forms.FORMS.values()), extends=(str, None), files=(Names | dict[str, Names], None)
)

#: By file of ``config/schemas``: the model of an entry of the files that it is about, or of such a file itself.
SCHEMAS = {
    "experiments": dict[str, Experiment],
    "figures": dict[str, Output],
    "settings": settings.Settings,
    "methods": dict[str, settings.Method],
    "datasets": dict[str, Task],
    "sources": dict[str, sources.Source],
    "scorecard": dict[str, output_models.Scorecard],
}


def run(folder) -> None:
    """Write the schemas into a folder."""
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=1, sort_keys=True) + "\n"
        write_text(text, Path(folder) / f"{name}.json", only_if_changed=True)


def schemas() -> dict[str, dict]:
    """Return all schemas by name."""
    return {name: relaxed(RootModel[of].model_json_schema()) for name, of in SCHEMAS.items()}


def relaxed(schema):
    """Return a schema without required keys and defaults, in which the value of every key may be null."""
    if isinstance(schema, list):
        return [relaxed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: relaxed(value) for key, value in schema.items() if key not in ("required", "default", "title")}
    for keys in {"properties", "patternProperties"} & {*schema}:
        found[keys] = {key: or_null(relaxed(of)) for key, of in schema[keys].items()}
    if "additionalProperties" in schema:
        found["additionalProperties"] = or_null(found["additionalProperties"])
    return found


def or_null(schema) -> dict:
    """Return a schema that allows a null as well; a False allows nothing else."""
    return {"type": "null"} if schema is False else {"anyOf": [schema, {"type": "null"}]}
