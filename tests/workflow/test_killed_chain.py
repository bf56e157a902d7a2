"""A whole workflow of real data, from its files to what is published, whose commands are killed and run again."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parent / "killed_chain.py"

#: Between the kills of the test, and kills after one of which the chain is run to its end; the script goes through all
#: moments with 1 and 1.
EVERY, FOLLOWED = 61, 4

#: A kind of experiment whose cells keep what they have got so far.
KIND = '''
"""Sums of draws, kept one by one."""

import numpy as np

from random_features.arrays import seed_of
from rfstudy.study.engine import Cell


def cells(job):
    return [Cell(entry, {"repeat": r}, job.spec.grid) for entry in job.spec.methods for r in [0, 1]]


def measure(job, entry, *, repeat, draws):
    sums = [float(kept["sum"]) for kept in job.checkpoints.load()]
    for draw in range(len(sums), draws):
        rng = np.random.default_rng(seed_of(job.spec.seed, "sums", repeat, draw))
        sums.append((sums[-1] if sums else 0.0) + rng.normal())
        job.checkpoints.append(sum=sums[-1])
    return [{"n_features": 1, "metric": "sum", "value": sums[-1]}], {"sums": np.array(sums)}
'''

#: Its entry in the registry.
ENTRY = '''

class Sums(TypedDict):
    """The `draws` of a sum."""

    draws: Count


KINDS["sums"] = Kind(Sums, None, 1000)
'''

EXPERIMENTS = """
killed-grid:
  extends: slsrff-text
  title: A small grid
  paper: survey
  datasets: {eeg: null, cod-rna: null, covtype: null, magic04: null, toy: {preprocess: [minmax]}}
  methods: [{method: rff}, {method: nystroem}]
  sizes: {multiples_of_d: [1, 2]}
  bandwidth: null
  search:
    method: {method: rff}
    size: {multiples_of_d: 2}
    learner: ridge
    length_scale: {grid: [0.3, 1], tune_per: experiment}
  time: null

killed-sums:
  title: Sums
  paper: survey
  kind: sums
  protocol: text
  kernel: {name: gaussian, length_scale: 1}
  methods: [{method: rff}]
  grid: {draws: 3}
"""

TASK = """
toy:
  label: toy
  published_as: {}
  source: toy
  files: {all: toy.csv}
  parser: table
  n: 60
  d: 3
  n_train: 30
  n_test: 30
  split: half
  labels: {a: 1, b: -1}
  stand_in:
    label: numbers (stand-in for toy)
    generator: {name: binary, positives: 0.5, blades: 2, n_train: 30, n_test: 30}
"""

#: What both outputs show.
SHOWN = """
  experiments: {text: killed-grid}
  datasets: [toy]
  methods: [rff, nystroem]
  sizes: [d, 2d]
  repeats: 3
"""
REPORTS = f"""
killed-values:
  kind: grid
  caption: Accuracies.
  quantity: {{metric: accuracy_pct, learner: ridge, split: test}}{SHOWN}
killed-curves:
  kind: curves
  caption: Errors.
  width: column
  panels: [{{metric: approximation_error_spectral, label: error, scale: log}}]{SHOWN}"""


@pytest.fixture
def chain(workspace):
    """A workspace with a small study of original data in a mirror; the arguments of its run."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(3)
    content = "".join(f"{a},{b},{c},{'a' if a > b else 'b'}\n" for a, b, c in X).encode()
    mirror = workspace.folder / "mirror"
    workspace.add_toy(mirror, content)
    added = {
        "config/datasets.yaml": TASK,
        "config/experiments/killed.yaml": EXPERIMENTS,
        "config/figures/survey.yaml": REPORTS,
        "src/rfstudy/study/kinds/sums.py": KIND,
        "src/rfstudy/study/kinds/registry.py": ENTRY,
    }
    for name, text in added.items():
        path = workspace.folder / name
        path.write_text((path.read_text(encoding="utf-8") if path.exists() else "") + text, encoding="utf-8")
    workspace.chain = (
        "--configfile", "config/presets/laptop.yaml",
        "--config", "only_experiments=killed-grid,killed-sums", "repeats=3", f"mirror={mirror}",
        "shard_by=[experiment]", "device=cpu",
    )  # fmt: skip
    return workspace


#: The commands of the chain, in an order in which each finds what it needs.
STAGES = ("download", "preprocess", "tune", "train", "measure", "collect", "publish", "draw")


def commands(space) -> list[list[str]]:
    """The commands that the workflow would run; their work files are written."""
    mirror = next(word for word in space.chain if word.startswith("mirror="))
    without_data = [word if word != mirror else "mirror=nowhere" for word in space.chain]
    failed = space.snakemake("--cores", "1", "all", "publish_all", *without_data, check=False)
    assert failed.returncode != 0
    for path in (space.folder / "results").rglob("*"):  # a job that needs no data may have run
        if path.is_file() and not path.name.endswith(".work.json") and path.parent.name != "outputs":
            path.unlink()
    done = space.snakemake("--dry-run", "--printshellcmds", "all", "publish_all", *space.chain)
    found = re.findall(r"python -m rfstudy (.+?) > \S+ 2>&1", done.stdout)
    return sorted({tuple(shlex.split(each)) for each in found}, key=lambda words: STAGES.index(words[0]))


def test_a_chain_whose_commands_are_killed_ends_in_the_same_files(chain):
    asked = commands(chain)
    assert {words[0] for words in asked} == set(STAGES)
    (chain.folder / "commands.json").write_text(json.dumps(asked))
    chain.environment |= {"RFSTUDY_MIRROR": str(chain.folder / "mirror"), "OMP_NUM_THREADS": "1"}
    done = chain.run(str(SCRIPT), str(chain.folder), str(EVERY), str(FOLLOWED), check=False)
    assert done.returncode == 0, done.stderr
    jobs = [line.split() for line in done.stdout.splitlines()]
    assert [stage for stage, *_ in jobs] == [words[0] for words in asked]
    assert all(int(kills) > 0 for _, _, kills, _ in jobs)
    assert sum(int(to_the_end) for *_, to_the_end in jobs) == sum(int(kills) for _, _, kills, _ in jobs) // FOLLOWED > 2
