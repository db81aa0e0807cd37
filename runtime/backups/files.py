"""The files of a physical backup against their checksums: PostgreSQL's own manifest, and that of the log beside it.

`pg_verifybackup` does the same, but that of the embedded PostgreSQL does not run.
"""

from __future__ import annotations

import json
from pathlib import Path

from runtime.backups import BackupError
from runtime.backups.manifest import checksum

MANIFEST = "backup_manifest"
LOG = "pg_wal"


def log_checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of each file of the log, by its path in `folder`; PostgreSQL's manifest does not list them."""
    files = (path for path in (folder / LOG).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): checksum(path) for path in sorted(files)}


def verify(folder: Path, log: dict[str, str]) -> None:
    """Raises BackupError for the first file that is missing, too many, or differs."""
    expected = _listed(folder) | log
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {MANIFEST}
    for name in sorted(found ^ expected.keys()):
        raise BackupError(f"{folder / name} is missing or does not belong to the backup. Use another backup.")
    for name, digest in expected.items():
        if checksum(folder / name) != digest:
            raise BackupError(f"{folder / name} was altered or cut off: its checksum differs. Use another backup.")


def _listed(folder: Path) -> dict[str, str]:
    """Of PostgreSQL's manifest, which was compared with its own checksum before."""
    files = json.loads((folder / MANIFEST).read_text())["Files"]
    return {
        file["Path"] if "Path" in file else bytes.fromhex(file["Encoded-Path"]).decode(): file["Checksum"]
        for file in files
    }
