"""Whether a recovery has ended where the archive of the log ends, and not at a file that is missing or damaged."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg

from runtime.backups import BackupError

ARCHIVED = re.compile(r"([0-9A-F]{24})\.gz")
# A file is named by its timeline, 8 digits, and its place in the log. At a limit of two files, the first one was read.
READ = "SELECT right(pg_walfile_name(%s::pg_lsn - 1), 16), pg_last_xact_replay_timestamp()::text"


def archived(archive: Path) -> list[str]:
    """The files of the log in an archive, in their order. For a list before the recovery: the archive may grow."""
    return sorted(found[1] for path in archive.iterdir() if (found := ARCHIVED.fullmatch(path.name)))


def check(session: psycopg.Connection[Any], folder: Path, files: list[str]) -> None:
    """Raises BackupError if `files` has later ones than the recovery of the server in `folder` has read."""
    # The last line of the newest history says where the recovery has ended, and on which timeline.
    history = max((folder / "pg_wal").glob("*.history"))
    timeline, end, _reason = history.read_text().strip().splitlines()[-1].split("\t", 2)
    place, moment = session.execute(READ, [end]).fetchone() or ("", "")
    last = f"{int(timeline):08X}{place}"
    if later := [name for name in files if name[:8] == last[:8] and name > last]:
        raise BackupError(
            f"The archive has {later[0]}, and the recovery ended before it, in {last}: a file is missing or damaged. "
            f"Put it back, or restore with --until a moment before {moment or 'then'}."
        )
