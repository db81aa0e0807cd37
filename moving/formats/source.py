"""Opens the file of an import: plain or compressed by gzip, in pieces, with progress."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from moving.formats.records import ContentTooLarge, UnreadableFile

PIECE = 1 << 16
GZIP = b"\x1f\x8b"


class CutOff(Exception):
    """A compressed file ends too early or is damaged. The pieces before have been read."""


@dataclass(slots=True)
class Source:
    """A file and whom to tell how many of its bytes have been read. Nothing beside the file is opened.

    `content_max`: how many bytes the content may have, decompressed; None: any number.
    """

    path: Path
    on_progress: Callable[[int], None]
    content_max: int | None = None
    _taken: int = field(default=0, init=False)

    def is_compressed(self) -> bool:
        return self.head(2) == GZIP

    def head(self, size: int) -> bytes:
        try:
            with self.path.open("rb") as file:
                return file.read(size)
        except OSError as error:
            raise UnreadableFile(f"The file cannot be opened: {error.strerror}.") from error

    def pieces(self) -> Iterator[bytes]:
        """The content, decompressed, in pieces of at most 64 KiB. Raises CutOff after the last good piece."""
        is_compressed = self.is_compressed()
        with self.path.open("rb") as file:
            content = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if is_compressed else file
            while piece := _read(content):
                self.take(len(piece))
                yield piece
                self.on_progress(file.tell())

    def take(self, size: int) -> None:
        """Count bytes of the content. Raises ContentTooLarge."""
        self._taken += size
        if self.content_max is not None and self._taken > self.content_max:
            raise ContentTooLarge(self.content_max)


def _read(content: IO[bytes]) -> bytes:
    try:
        return content.read(PIECE)
    except (EOFError, zlib.error, gzip.BadGzipFile, OSError) as error:
        raise CutOff(str(error)) from error
