"""Golden copies of the measured tables and figures: their numbers and verdicts, without words.

``python tests/golden/golden.py check [PATTERN ...]`` makes the outputs again from ``data/measured`` and prints every
cell that differs from the copy; ``write`` replaces the copies. Patterns select outputs by name, e.g.
``survey/table-07*``. Change a copy only in a commit of its own that lists cell, old value, new value and reason.

A table is kept as the columns of its CSV file that hold numbers, ids or verdicts. A figure is kept as the points that
its axes draw, with any artists. Labels, captions and places on the page are not kept, and neither are
schematics, which show no data.
"""

import io
import json
import lzma
import sys
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pandas as pd

from rfstudy.render import Shipped
from rfstudy.report import typeset

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
PAPERS = ("survey", "eerf", "nsrf", "slsrff", "study")

#: Relative difference up to which two numbers are the same.
TOLERANCE = 1e-6

#: Words that are outcomes. A column of text is kept if it holds nothing else.
VERDICTS = (
    "reproduced", "better", "worse", "too noisy", "not comparable", "not run",
    "holds", "partly", "fails", "contradicted", "undecided", "not testable",
    "same", "equal", "differs", "yes", "no", "kept", "missed", "lost", "deduced", "not printed", "none stands out",
    "no ranking", "no verdict", "confirmed", "different, negligibly", "fewer than 6 sets",
)  # fmt: skip

#: Columns of text that say which cell a row is about.
KEYS = ("size", "metric", "kernel", "learner", "claim", "protocol", "criterion", "random_split")


def made(patterns: list[str], shipped: Shipped):
    """Yield (name, what it is made of) for each measured output whose name matches a pattern."""
    for spec in shipped.reports:
        paper, name, experiments = spec["paper"], spec["name"], spec["experiments"]
        if not any(fnmatch(f"{paper}/{name}", pattern) for pattern in patterns):
            continue
        if any(shipped.has([each]) for each in experiments) or (spec["form"] == "tables" and not experiments):
            output = shipped.made(paper, name)
            content = of_table(typeset.csv(output)) if spec["form"] == "tables" else of_figure(output.figure)
            yield f"{paper}/{name}", content


def of_table(text: str) -> dict[str, list]:
    """The columns of a CSV file that hold numbers, ids or verdicts."""
    frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    kept = {}
    for column in frame.columns:
        values = [number(value) for value in frame[column]]
        texts = {value for value in values if isinstance(value, str)}
        if column in KEYS or column.endswith(("_id", "_variant")) or texts <= {"", *VERDICTS}:
            kept[column] = values
    return kept


def of_figure(figure) -> list:
    """The data that the axes of a figure draw, with any artists: all points, each once, and all images.

    A point is a vertex of a line, an error bar, a band or a bar, or the position of a marker. On a logarithmic axis an
    error bar that reaches zero ends at the edge of the axes; such ends are left out.
    """
    from matplotlib.collections import Collection
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.spines import Spine

    found, images = [np.empty((0, 2))], []
    for axes in figure.axes:
        data = axes.transData
        for artist in axes.get_children():
            if artist is axes.patch or isinstance(artist, Spine) or not artist.get_visible():
                continue
            if isinstance(artist, AxesImage):
                images.append(np.asarray(artist.get_array().filled(np.nan), dtype=float))
                continue
            if isinstance(artist, Line2D) and artist.get_transform() == data:
                points = np.column_stack(artist.get_data(orig=False))
            elif isinstance(artist, Collection) and len(artist.get_offsets()) and artist.get_offset_transform() == data:
                points = np.asarray(artist.get_offsets())
            elif isinstance(artist, Collection) and artist.get_transform() == data:
                vertices = [path.vertices for path in artist.get_paths() if len(path.vertices)]
                points = np.concatenate(vertices) if vertices else np.empty((0, 2))
            elif isinstance(artist, Patch) and artist.get_data_transform() == data:
                points = artist.get_patch_transform().transform(artist.get_path().vertices)
            else:
                continue
            points = np.atleast_2d(np.ma.filled(np.ma.asarray(points, dtype=float), np.nan))
            points = points[np.isfinite(points).all(axis=1)]
            if axes.get_yscale() == "log":
                y = points[:, 1]
                points = points[(y > 0) & ~is_close(y, axes.get_ylim()[0])]
            found.append(points)
    points = rounded(np.concatenate(found))
    return [["points", sorted(map(list, set(map(tuple, points))))], *(["image", rounded(image)] for image in images)]


def rounded(array: np.ndarray) -> list[list[float]]:
    """The rows of an array, to seven digits."""
    return [[number(f"{value:.7g}") for value in row] for row in array.tolist()]


def number(text: str) -> float | str:
    """The number that a text states, else the text."""
    try:
        return float(text)
    except ValueError:
        return text


def is_same(old, new) -> bool:
    """Return whether two cells are equal, numbers up to rounding."""
    if isinstance(old, float) and isinstance(new, float):
        return old == new or (old != old and new != new) or abs(old - new) <= TOLERANCE * max(abs(old), abs(new))
    return old == new


def differences(old, new, where: str):
    """Yield a line for each cell in which two outputs differ."""
    if isinstance(old, dict):
        for column in sorted(old.keys() ^ new.keys()):
            yield f"{where}: column {column} is {'new' if column in new else 'gone'}"
        for column in old.keys() & new.keys():
            if len(old[column]) != len(new[column]):
                yield f"{where}: {column} has {len(new[column])} rows, had {len(old[column])}"
            for row, (before, after) in enumerate(zip(old[column], new[column], strict=False)):
                if not is_same(before, after):
                    yield f"{where}: {column}, row {row}: {before!r} is now {after!r}"
        return
    for what, one, other in (("gone", old, new), ("new", new, old)):
        points, others = ([row for kind, rows in each if kind == "points" for row in rows] for each in (one, other))
        for x, y in unmatched(points, others):
            yield f"{where}: the point ({x:g}, {y:g}) is {what}"
        images, others = ([np.array(rows) for kind, rows in each if kind == "image"] for each in (one, other))
        for image in images:
            if not any(image.shape == each.shape and is_close(image, each).all() for each in others):
                yield f"{where}: an image of shape {image.shape} is {what}"


def unmatched(points: list[list[float]], others: list[list[float]]) -> list[list[float]]:
    """The points that are not among others, up to rounding."""
    known = set(map(tuple, others))
    rest, others = [point for point in points if tuple(point) not in known], np.array(others).reshape(-1, 2)
    return [point for point in rest if not is_close(others, np.array(point)).all(axis=1).any()]


def is_close(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Which numbers are equal up to rounding."""
    return np.isclose(one, other, rtol=TOLERANCE, atol=1e-12, equal_nan=True)


def read(paper: str) -> dict:
    """The golden copies of a paper's outputs, by name."""
    return json.loads(lzma.decompress((HERE / f"{paper}.json.xz").read_bytes()))


def check(patterns: list[str], shipped: Shipped) -> list[str]:
    """The differences between the outputs that match the patterns and their golden copies, one line each."""
    old = {name: content for paper in PAPERS for name, content in read(paper).items()}
    old = {name: content for name, content in old.items() if any(fnmatch(name, pattern) for pattern in patterns)}
    found, seen = [], set()
    for name, content in made(patterns, shipped):
        seen.add(name)
        found += differences(old[name], content, name) if name in old else [f"{name}: is new"]
    if not (old or seen):
        return [f"no output is called {' or '.join(patterns)}: the names are paper/output, e.g. survey/table-07-text"]
    return found + [f"{name}: is gone" for name in old if name not in seen]


def write(patterns: list[str], shipped: Shipped) -> None:
    """Replace the golden copies of the outputs that match the patterns."""
    new = dict(made(patterns, shipped))
    for paper in {name.split("/")[0] for name in new}:
        path = HERE / f"{paper}.json.xz"
        kept = read(paper) if path.exists() else {}
        kept |= {name: content for name, content in new.items() if name.startswith(f"{paper}/")}
        text = json.dumps(dict(sorted(kept.items())), separators=(",", ":"))
        path.write_bytes(lzma.compress(text.encode(), preset=9))


if __name__ == "__main__":
    command, *wanted = sys.argv[1:] or ["check"]
    wanted = wanted or ["*"]
    if command == "write":
        write(wanted, Shipped(ROOT))
    else:
        lines = check(wanted, Shipped(ROOT))
        print("\n".join(lines) or "equal")
        sys.exit(bool(lines))
