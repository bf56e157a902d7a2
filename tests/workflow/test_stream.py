"""Rows in chunks as jobs: the same task as in one, and a chunk that is there is not made again."""

import re

import numpy as np

TARGET = "data/prepared/embedded/mnist8m/X.npy"
ONE = "streamed: {base: mnist, generator: deformed_digits, n_train: 2000}\n    d: 40"
THREE = ONE.replace("n_train: 2000", "n_train: 2000, rows_per_chunk: 700")
OF_STREAMS = ("--config", "only_experiments=survey-million-code")


def done_by_rule(output: str) -> dict[str, int]:
    """Jobs that were run, by rule, from the job table."""
    table = output.split("Job stats:")[1]
    return {name: int(count) for name, count in re.findall(r"^(\w+)\s+(\d+)\s*$", table, re.MULTILINE)}


def test_chunks_are_made_by_jobs_of_their_own_and_gathered(workspace):
    workspace.snakemake("--cores", "1", TARGET, *OF_STREAMS)
    whole = np.load(workspace.folder / TARGET)
    tasks = workspace.folder / "config/datasets.yaml"
    text = tasks.read_text(encoding="utf-8")
    assert text.count(ONE) == 1
    tasks.write_text(text.replace(ONE, THREE), encoding="utf-8")
    folder = (workspace.folder / TARGET).parent
    first = workspace.snakemake(
        "--cores", "1", "--notemp", str((folder / "chunk-1.npz").relative_to(workspace.folder)), *OF_STREAMS
    )
    assert done_by_rule(first.stdout + first.stderr)["stream"] == 1
    done = workspace.snakemake("--cores", "2", TARGET, *OF_STREAMS)
    jobs = done_by_rule(done.stdout + done.stderr)
    assert (jobs["stream"], jobs["preprocess"]) == (2, 1)
    # float32 of numbers that agree to the last digits of float64
    np.testing.assert_allclose(np.load(workspace.folder / TARGET), whole, rtol=2e-7, atol=1e-10)
    assert not list(folder.glob("chunk-*"))
