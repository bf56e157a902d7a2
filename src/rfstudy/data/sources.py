"""Typed models of ``config/sources.yaml``: files, their addresses, checksums and licences."""

from typing import Annotated

from annotated_types import Ge, MinLen, Predicate
from pydantic import AfterValidator, StringConstraints, model_validator

from rfstudy.data.tasks import ARCHIVE_ENDINGS, RECORD, UNKNOWN
from rfstudy.fields import Count, distinct
from rfstudy.models import Model, Text, checked_line, either, one_or_more, refuse

Names = one_or_more(Text, MinLen(1))
FileName = Annotated[str, StringConstraints(pattern="^[^/]+$"), AfterValidator(checked_line)]


class Address(Model):
    """An address of a file.

    Attributes
    ----------
    url : the address
    member : name of the file in an archive; a list of names where one archive is inside another, the outermost first
    """

    url: Annotated[str, StringConstraints(pattern="^https?://[^ ]+$")]
    member: Names = None


class Substitute(Model):
    """Another file, in the folder or in a mirror, that is used if the file itself is not available.

    Attributes
    ----------
    file : its name
    source : its folder in a mirror, by default the folder of the source
    sha256 : checksum of its content
    bytes : length of its content
    excluded_rows : its rows, from 0, that differ from the file: they are left out, and rows of results say so
    """

    file: FileName
    source: FileName = None
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
    bytes: Count
    excluded_rows: Annotated[list[Annotated[int, Ge(0)]], Predicate(distinct)]


class LocalFile(Model):
    """A file of this machine.

    Attributes
    ----------
    path : where it is, from the folder of the workflow (`~` is a home); its checksum is recorded in `sources.lock.yaml`
        when it is first used
    """

    path: Text


class RemoteFile(Model):
    """A file to download.

    Attributes
    ----------
    sha256 : checksum of the content, after decompression; `unknown` where nobody has held the file: the first content
        is trusted and recorded in `sources.lock.yaml`
    bytes : length of the content
    most_bytes : in place of `bytes` where the checksum is unknown: the largest length that the content may have
    substitute : another file that is used where this one cannot be had
    addresses : addresses, tried in this order
    """

    sha256: Annotated[str, StringConstraints(pattern="^([0-9a-f]{64}|unknown)$")]
    bytes: Count = None
    most_bytes: Count = None
    substitute: Substitute = None
    addresses: Annotated[list[Address], MinLen(1)]

    @model_validator(mode="after")
    def check_length(self):
        """Check that a known checksum goes with a known length, and an unknown one with a largest length."""
        what, needed, other = "a checksum", "bytes", "most_bytes"
        if self.sha256 == UNKNOWN:
            what, needed, other = "an unknown checksum", other, needed
        if not getattr(self, needed) or getattr(self, other):
            refuse([((), f"a file with {what} has {needed!r} and no {other!r}")])
        return self


File = either(LocalFile, lambda value: isinstance(value, dict) and "path" in value, RemoteFile)


def good_name(name: str) -> str:
    """Check that no other file has the name of a file in the folder of its source."""
    if name.startswith(".") or name == RECORD:
        raise ValueError(f"no file may be called {name!r}: the folder of a source has others of that name")
    if name.endswith(ARCHIVE_ENDINGS[1:]):
        raise ValueError(f"{name!r} has the ending of an archive; name the file by its content")
    return name


class Source(Model):
    """Files that are published together.

    Attributes
    ----------
    title : title of the files; for files of this machine the title is enough
    citation : whom to cite
    licence : the licence as the publisher states it
    page : the publisher's page
    files : by name as published, without the ending of an archive (`.gz`, `.zip`): a file of this machine (`path`), or
        a file to download
    """

    title: Text
    citation: Text = None
    licence: Text = None
    page: Annotated[str, StringConstraints(pattern="^https?://[^ ]+$")] = None
    files: Annotated[dict[Annotated[FileName, AfterValidator(good_name)], File], MinLen(1)]

    @model_validator(mode="after")
    def check_published(self):
        """Check that files to download say whose they are."""
        missing = [key for key in ("citation", "licence", "page") if not getattr(self, key)]
        if not all(isinstance(file, LocalFile) for file in self.files.values()):
            refuse([((), f"a source with files to download needs the key {key!r}") for key in missing])
        return self
