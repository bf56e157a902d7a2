"""Write the files of an answer whole or not at all."""

import os
from pathlib import Path


def write(path, content: str) -> None:
    """Write a text in UTF-8 to a temporary file next to ``path``, and rename it afterwards."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".partial-{os.getpid()}-{path.name}")
    try:
        temporary.write_text(content, encoding="utf-8", errors="backslashreplace")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
