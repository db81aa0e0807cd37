"""`manifest.json` of a backup: what it contains, and checksums that show a cut-off or altered one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from runtime.backups import BackupError

FILE = "manifest.json"
FORMAT = 1
PHYSICAL, LOGICAL = "physical", "logical"
# What the checksum of the backup is of. PostgreSQL's own manifest has the checksums of the files of a physical one.
CHECKED = {PHYSICAL: "postgres/backup_manifest", LOGICAL: "community.dump"}
CONTENTS = {PHYSICAL: "postgres", LOGICAL: "community.dump"}


@dataclass(frozen=True, slots=True)
class Manifest:
    """`finished_at`: the server's time (ISO 8601) from which on all is in a physical backup.

    `postgres`: the major version of the server. `bytes`: of all files. `fingerprints`: of the secrets, hexadecimal
    (`kernel.fingerprints`). `migrations`: `app.name` of the applied ones. `checksum`: SHA-256 of the file CHECKED.
    `log`: those of PostgreSQL's log in a physical backup, by path.
    """

    kind: str
    release: str
    postgres: int
    system: str
    started_at: str
    finished_at: str
    bytes: int
    files: int
    fingerprints: dict[str, str]
    migrations: list[str]
    checksum: str
    log: dict[str, str]
    format: int = FORMAT


def write(folder: Path, manifest: Manifest) -> None:
    content = asdict(manifest)
    (folder / FILE).write_text(json.dumps(content | {"digest": _digest(content)}, indent=2) + "\n")


def read(folder: Path) -> Manifest:
    """Raises BackupError for what is no whole backup. The files that it describes are not checked."""
    if not folder.is_dir():
        raise BackupError(f"{folder} is no folder: name the folder of a backup.")
    try:
        content: dict[str, Any] = dict(json.loads((folder / FILE).read_text()))
        digest = content.pop("digest", None)
    except FileNotFoundError:
        raise BackupError(f"{folder} has no {FILE}: it is no backup, or one that was cut off.") from None
    except (OSError, TypeError, ValueError) as error:
        raise BackupError(f"{folder / FILE} cannot be read ({error}): use another backup.") from error
    if content.get("format") != FORMAT and isinstance(content.get("format"), int):
        raise BackupError(f"The backup has format {content['format']}: restore it with the release that made it.")
    if digest != _digest(content):
        raise BackupError(f"{folder / FILE} was altered: its digest is not that of its contents. Use another backup.")
    manifest = Manifest(**content)
    _check_names(folder, manifest)
    return manifest


def checksum(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def check_file(folder: Path, manifest: Manifest) -> None:
    """Raises BackupError if the file with the checksum was altered."""
    file = folder / CHECKED[manifest.kind]
    if not file.is_file() or checksum(file) != manifest.checksum:
        raise BackupError(f"{file} was altered or cut off: its checksum differs. Use another backup.")


def measure(folder: Path) -> tuple[int, int]:
    """Bytes and number of all files."""
    sizes = [path.lstat().st_size for path in folder.rglob("*") if path.is_file()]
    return sum(sizes), len(sizes)


def _check_names(folder: Path, manifest: Manifest) -> None:
    expected = {FILE, CONTENTS[manifest.kind]}
    if differing := expected ^ {path.name for path in folder.iterdir()}:
        names = ", ".join(sorted(differing))
        raise BackupError(f"{folder} was altered: {names} is missing or does not belong to it. Use another backup.")


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
