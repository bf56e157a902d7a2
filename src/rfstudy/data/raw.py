"""What the files in the folder of a source are called."""

#: Endings of the archives and compressed files that may hold the content of a file, tried in this order.
ARCHIVE_ENDINGS = ("", ".xz", ".gz", ".bz2", ".zip")

#: The file that says where the others are from.
RECORD = "record.json"
