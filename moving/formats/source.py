"""Opens the file of an import: plain or compressed by gzip, in pieces, with progress."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from moving.formats.records import UnreadableFile

PIECE = 1 << 16
GZIP = b"\x1f\x8b"


class CutOff(Exception):
    """A compressed file ends too early or is damaged. The pieces before have been read."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file and whom to tell how many of its bytes have been read. Nothing beside the file is opened."""

    path: Path
    on_progress: Callable[[int], None]

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
                yield piece
                self.on_progress(file.tell())


def _read(content: IO[bytes]) -> bytes:
    try:
        return content.read(PIECE)
    except (EOFError, zlib.error, gzip.BadGzipFile, OSError) as error:
        raise CutOff(str(error)) from error
