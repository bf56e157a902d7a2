"""A small table, and files of it in many forms, for the tests of reading."""

import io
import zipfile

import numpy as np
import pandas as pd

ROWS = 60
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(10, 2, ROWS).round(2),
        "colour": RNG.choice(["red", "blue", "green; dark"], ROWS),
        "day": pd.date_range("2024-01-01", periods=ROWS).strftime("%Y-%m-%d"),
        "sold": np.arange(ROWS) % 3 == 0,
        "price": RNG.normal(100, 20, ROWS).round(1),
    }
)


def text(**how):
    return FRAME.to_csv(index=False, **how).encode(how.pop("encoding", "utf-8"))


def packed(data, *names):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names or ["table.csv"]:
            archive.writestr(name, b"" if name.endswith("/") else data)
    return stream.getvalue()


def encrypted(data):
    archive = bytearray(packed(data))
    for start, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        archive[archive.find(start) + flags] |= 1
    return bytes(archive)


def arrays(**named):
    stream = io.BytesIO()
    np.savez(stream, **named)
    return stream.getvalue()


def arff(frame, **kinds):
    head = ["@relation t", *(f"@attribute {name} {kinds.get(name, 'real')}" for name in frame), "@data"]
    return "\n".join([*head, frame.to_csv(index=False, header=False)])


GOOD = text()
