"""Names of the files in the folder of a source."""

#: Suffixes of the archives and compressed files that may hold the content of a file, tried in this order.
ARCHIVE_ENDINGS = ("", ".xz", ".gz", ".bz2", ".zip")

#: The file that records the origin of the others.
RECORD = "record.json"
