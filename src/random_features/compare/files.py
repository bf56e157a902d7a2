"""Write the files of an answer whole or not at all."""

import os
from pathlib import Path


def write_whole(path, writer) -> None:
    """Call ``writer`` with a temporary path next to ``path``, and rename the file afterwards."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".partial-{os.getpid()}-{path.name}")
    try:
        writer(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(text: str, path) -> None:
    """Write a text in UTF-8."""
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8", errors="backslashreplace"))
