"""Write the tables of the API reference (docs/reference) and of docs/results.md: ``python docs/reference.py``.

A table is between two comments that name its subject; the text around it is written by hand. Names link to the source.
On the site each class and function has a page of its own (conf.py).
"""

import inspect
import re
from pathlib import Path

from random_features import kernels, learners, machines, maps
from random_features.kernels import KERNELS
from random_features.maps.base import RandomFeatureMap
from random_features.maps.registry import ALIASES, list_maps, map_class
from rfstudy.readme import BLOCK, first_sentence, one_line, table
from rfstudy.tidy import MEANINGS

HERE = Path(__file__).parent
PAGES = [
    HERE / "results.md",
    *(HERE / "reference" / f"{name}.md" for name in ("maps", "kernels", "learners", "machines")),
]
SOURCE = Path(inspect.getfile(maps)).parents[1]


def functions_of_learners() -> list:
    """Return the public functions of the modules of learners."""
    found = []
    for path in sorted(Path(inspect.getfile(learners)).parent.glob("*.py")):
        names = re.findall(r"^def ((?:fit|cross_validate|predict)_\w+)", path.read_text("utf-8"), re.MULTILINE)
        if names:
            module = __import__(f"random_features.learners.{path.stem}", fromlist=names)
            found += [getattr(module, name) for name in names]
    return found


def documented() -> dict[str, list]:
    """Return the public classes and functions of the library, by the page of the reference that lists them."""
    from random_features.learners.kernel_ridge import CertifiedModel
    from random_features.learners.linear_model import LinearModel

    of_maps = [map_class(each["name"]) for each in list_maps()]
    return {
        "maps": list(dict.fromkeys([RandomFeatureMap, *of_maps])),
        "kernels": [getattr(kernels, each.class_name) for each in KERNELS.values()],
        "machines": [machines.KernelMachineRegressor, machines.KernelMachineClassifier],
        "learners": [*functions_of_learners(), LinearModel, CertifiedModel],
    }


def linked(item) -> str:
    """Return the name of a class or function with a link to its file, from a page of the reference."""
    file = Path(inspect.getsourcefile(item)).relative_to(SOURCE)
    return f"[{item.__name__}](../../src/random_features/{file.as_posix()})"


def tables() -> dict[str, str]:
    """Return all tables by subject."""
    of_maps = [
        (each["name"], linked(map_class(each["name"])), each["fit"], each["cost"], ", ".join(each["kernels"]))
        for each in list_maps()
    ]
    options = {
        alias: ", ".join([f"`{name}`", *(f"`{key}={value!r}`" for key, value in own.items())])
        for alias, (name, own) in ALIASES.items()
    }
    listed = documented()
    return {
        "maps": table(["name", "class", "fit", "cost", "kernels"], of_maps),
        "other names": table(["other name", "map and options"], options.items()),
        "kernels": table(["name", "class", "parameters"], [
            (name, linked(item), ", ".join(each.parameters) or "none")
            for (name, each), item in zip(KERNELS.items(), listed["kernels"], strict=True)
        ]),
        "machines": plain(listed["machines"]),
        "learners": plain(listed["learners"]),
        "columns": table(["column", "meaning"], MEANINGS.items()),
    }  # fmt: skip


def plain(items: list) -> str:
    """Return a table of classes and functions with the first sentences of their docstrings."""
    rows = [f"| {linked(item)} | {one_line(first_sentence(item))} |\n" for item in items]
    return "".join(["| name | purpose |\n", "| --- | --- |\n", *rows])


def written(page: str) -> str:
    """Return a page with all of its tables made again."""
    made = tables()
    return BLOCK.sub(lambda block: f"<!-- table: {block['name']} -->\n{made[block['name']]}<!-- end -->", page)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(written(path.read_text("utf-8")), "utf-8")
