"""Disk space of files that are mapped into memory."""

import os
from typing import BinaryIO


def allocate(file: BinaryIO, size: int) -> None:
    """Reserve disk space for the whole file: on a full disk the kernel kills a process that writes into a hole.

    Raises OSError. No lock is needed, because two processes may do this at the same time. (A mapping would keep the
    lock until its process ends.)
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.write(bytes(size))
        file.flush()
        os.fsync(file.fileno())
