"""The folder with the socket of an embedded PostgreSQL."""

import hashlib
import os
import re
import tempfile
from pathlib import Path

from runtime import postgres_binaries
from runtime.postgres_binaries import PostgresError

NAME = ".s.PGSQL.5432"
# The maximum is 107 bytes on Linux and 103 on macOS.
PATH_MAX = 103


def folder_of(cluster: Path) -> Path:
    """The folder of the cluster, or a short one if its path is too long or has special characters."""
    path = cluster / NAME
    if len(os.fsencode(path)) <= PATH_MAX and re.fullmatch(r"[\w/.+-]+", str(path), re.ASCII):
        return cluster
    return Path(tempfile.gettempdir()) / f"postgres-{hashlib.sha256(os.fsencode(cluster)).hexdigest()[:16]}"


def prepare(folder: Path) -> None:
    """Create a folder of its own. In the shared temporary folder it must belong to this user."""
    owner = postgres_binaries.owner().pw_uid
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid not in (owner, os.geteuid()):
        raise PostgresError(f"{folder} belongs to another user; remove it.")
    os.chown(folder, owner, -1)
    folder.chmod(0o700)
