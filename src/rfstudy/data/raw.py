"""Find the files of a source as its download left them, and check them."""

from pathlib import Path

from random_features.errors import UserError
from rfstudy.data.prepared import read_record
from rfstudy.files import digest_of, shown


class Missing(Exception):
    """A source is not available, and the configuration allows that; the message says why."""


def downloaded(source_id: str, raw_dir, names=None) -> dict[str, dict]:
    """Return the record of a download by file of the source. The named files (by default all) are checked against it.
    Raise ``Missing`` if they are not available.
    """
    raw_dir = Path(raw_dir)
    advice = f"remove {shown(raw_dir / 'record.json')} and run again: the download checks every file, and gets it again"
    source = read_record(raw_dir / "record.json", "run the download of this source first")
    known = source.get("files", {})
    of_files = known.values() if isinstance(known, dict) else [None]
    if source["status"] not in ("ok", "missing") or not all(isinstance(each, dict) for each in of_files):
        raise UserError(f"{shown(raw_dir / 'record.json')} is broken: it is no record of a download; {advice}")
    if source.get("source", source_id) != source_id:
        raise UserError(f"{shown(raw_dir)} holds the files of {source['source']}, not of {source_id}; {advice}")
    if source["status"] != "ok":
        raise Missing(source.get("reason", ""))
    for name in known if names is None else names:
        found = known.get(name, {})
        check_raw(raw_dir / found.get("file", name), found.get("sha256"), advice)
    return known


def check_raw(path: Path, expected: str | None, advice: str) -> None:
    """Raise ``UserError`` unless a raw file is the one that was downloaded: it may have been edited since."""
    if expected is None:
        raise UserError(f"{shown(path.with_name('record.json'))} does not name {path.name}; {advice}")
    if not path.is_file():
        raise UserError(f"{shown(path)} does not exist, although it was downloaded; {advice}")
    actual = digest_of(path)
    if actual != expected:
        raise UserError(
            f"{shown(path)} is not the file that was downloaded: expected sha256 {expected}, actual {actual}; {advice}"
        )
