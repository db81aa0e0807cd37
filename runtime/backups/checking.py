"""Checks a backup before anything is replaced."""

from __future__ import annotations

from pathlib import Path

from django.db.migrations.loader import MigrationLoader

from kernel import fingerprints
from runtime.backups import BackupError, files, manifest, programs
from runtime.backups.manifest import PHYSICAL, Manifest


def check(folder: Path) -> Manifest:
    """Raises BackupError if the backup is not whole, was altered, or is of a newer release."""
    found = manifest.read(folder)
    manifest.check_file(folder, found)
    if not found.fingerprints:
        raise BackupError(f"{folder} is of a database that no service has run with: use another backup.")
    if found.kind == PHYSICAL:
        files.verify(folder / manifest.CONTENTS[PHYSICAL], found.log)
    else:
        _verify_dump(folder, found)
    known = {f"{app}.{name}" for app, name in MigrationLoader(None, ignore_no_migrations=True).disk_migrations}
    if unknown := [name for name in found.migrations if name not in known]:
        raise BackupError(
            f"The backup is of release {found.release}, whose migration {unknown[0]} this release does not have: "
            "restore it with that release or a newer one."
        )
    return found


def check_secrets(found: Manifest, *, data: Path, debug: bool, goes_on: bool = False) -> None:
    """Raises BackupError if a secret of this host is not one that the database of the backup was used with.

    `goes_on`: a restore would go on with later changes, which may be of other secrets.
    """
    stored = {name: bytes.fromhex(value) for name, value in found.fingerprints.items()}
    if wrong := fingerprints.unknown(stored, data=data, debug=debug):
        raise BackupError(
            f"{' and '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not of the service that this backup is of: "
            "restore its secrets first (the environment, or secrets.json in DATA_DIR)"
            f"{', unless they were rotated since: then make a new backup' if goes_on else ''}."
        )


def _verify_dump(folder: Path, found: Manifest) -> None:
    program = programs.find("pg_restore", major=found.postgres, or_newer=True)
    programs.run(program, "--list", folder / manifest.CONTENTS[found.kind])
