"""Rows in chunks as jobs: a chunk that is there is not made again."""

import numpy as np

FOLDER = "data/prepared/embedded/mnist8m"
ONE = "streamed: {base: mnist, generator: deformed_digits, n_train: 2000}\n    d: 40"
OF_STREAMS = ("--config", "only_experiments=survey-million-code")


def test_chunks_are_made_by_jobs_of_their_own_and_gathered(workspace, planned):
    three = ONE.replace("n_train: 2000", "n_train: 2000, rows_per_chunk: 700")
    workspace.replace("config/datasets.yaml", ONE, three)
    first = workspace.snakemake("--cores", "1", "--notemp", f"{FOLDER}/chunk-1.npz", *OF_STREAMS)
    assert planned(first.stdout + first.stderr)["stream"] == 1
    with np.load(workspace.folder / FOLDER / "chunk-1.npz") as chunk:
        labels = chunk["y"]
    done = workspace.snakemake("--cores", "2", f"{FOLDER}/X.npy", *OF_STREAMS)
    jobs = planned(done.stdout + done.stderr)
    assert (jobs["stream"], jobs["preprocess"]) == (2, 1)
    y = np.load(workspace.folder / FOLDER / "y.npy")
    np.testing.assert_array_equal(y[700:1400], labels)
    assert not list((workspace.folder / FOLDER).glob("chunk-*"))
