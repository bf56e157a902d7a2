"""What the files in the folder of a source are called."""

#: Endings of the archives and compressed files that may hold the content of a file, tried in this order.
ARCHIVE_ENDINGS = ("", ".xz", ".gz", ".bz2", ".zip")

#: The file that says where the others are from.
RECORD = "record.json"


def problems_of_name(name: str) -> list[str]:
    """Why a file of a source cannot be called so: another one in its folder is."""
    found = []
    if name.startswith(".") or name == RECORD:
        found.append(f"no file may be called {name!r}: the folder of a source has others of that name")
    if name.endswith(ARCHIVE_ENDINGS[1:]):
        found.append(f"{name!r} has the ending of an archive; name the file by its content")
    return found
