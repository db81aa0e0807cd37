"""Writes an export to a file that is complete or not there."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable
from pathlib import Path


def write_file(path: Path, parts: Iterable[bytes]) -> None:
    """Under another name first. A name that ends in `.gz` is compressed. Raises OSError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        # Only the user of the service reads it, as a pending post is not public.
        with open(draft, "xb", opener=_private) as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6) as out:
                    out.writelines(parts)
            else:
                raw.writelines(parts)
            raw.flush()
            os.fsync(raw.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
