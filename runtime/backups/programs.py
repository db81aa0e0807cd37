"""PostgreSQL's programs for backups: those of the embedded PostgreSQL, or installed ones of the version of a server.

`manifest.json` of a backup: what it contains, and checksums that show a cut-off or altered one.

The files of a physical backup against their checksums: PostgreSQL's own manifest, and that of the log beside it.

`pg_verifybackup` does the same, but that of the embedded PostgreSQL does not run.

What both commands need while they run: a database, a line of progress, and an end that cleans up.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from config import env
from kernel.database import deployment
from runtime import postgres_binaries, processes
from runtime.backups import BackupError
from runtime.data_folder import postgres_of_command
from runtime.postgres import embedded
from runtime.postgres_binaries import PostgresError

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


INSTALLED = "/usr/lib/postgresql"
# Of the output of a program that fails, what is shown.
OUTPUT_MAX = 400
LINE = re.compile(rb"[\r\n]+")


def find(name: str, *, major: int, or_newer: bool = False) -> Path:
    """A program of this major version. Raises BackupError if there is none."""
    for folder in _folders():
        program = folder / name
        found = _major(program) if program.is_file() and os.access(program, os.X_OK) else 0
        if found == major or (or_newer and found > major):
            return program
    needed = f"{major} or newer" if or_newer else str(major)
    raise BackupError(
        f"The server is PostgreSQL {major}, and no {name} of version {needed} is here: install the client programs of "
        f"PostgreSQL {major} on this host."
    )


def run(program: Path, *arguments: str | Path, url: str = "", say: Callable[[str], None] = lambda _line: None) -> None:
    """Run it to its end; `say` gets each line of its progress. Raises BackupError with what it said last.

    The password of `url` is in the environment of the program, where other users do not see it.
    """
    parts = conninfo_to_dict(url) if url else {}
    password = parts.pop("password", None)
    address = [f"--dbname={make_conninfo('', **parts)}"] if url else []
    environment = os.environ | ({"PGPASSWORD": str(password)} if password else {})
    with processes.deferred_signals():
        running = subprocess.Popen(
            [program, *address, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd="/",
            start_new_session=True,
        )
    lines: list[str] = []
    try:
        for line in _lines(running.stdout):
            lines = [*lines[-20:], line]
            say(line)
        status = running.wait()
    except BaseException:
        running.send_signal(signal.SIGTERM)
        running.wait()
        raise
    if status:
        raise BackupError(f"{program.name} failed: {_reason(lines)}")


def _lines(output: IO[bytes] | None) -> Iterator[str]:
    """Lines that end with a carriage return, too."""
    rest = b""
    while output is not None and (chunk := os.read(output.fileno(), 65_536)):
        *whole, rest = LINE.split(rest + chunk)
        yield from (line.decode(errors="replace").strip() for line in whole if line.strip())
    if rest.strip():
        yield rest.decode(errors="replace").strip()


def _reason(lines: Sequence[str]) -> str:
    errors = [line for line in lines if "error" in line.lower() or "fatal" in line.lower()] or lines
    return "; ".join(errors)[:OUTPUT_MAX] or "it said nothing"


def _folders() -> Iterator[Path]:
    with suppress(PostgresError):
        yield postgres_binaries.binaries()
    yield from (Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder)
    yield from sorted(Path(INSTALLED).glob("*/bin"), reverse=True)


def _major(program: Path) -> int:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\(PostgreSQL\) (\d+)", said)
    return int(found[1]) if found else 0


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


SECONDS = 2.0


class Progress:
    """Prints a line of progress at most once in SECONDS; None prints nothing."""

    def __init__(self, out: Any) -> None:
        self._out = out
        self._printed = time.monotonic()

    def __call__(self, line: str) -> None:
        if self._out is not None and time.monotonic() - self._printed > SECONDS:
            self._out.write(line)
            self._printed = time.monotonic()


@contextmanager
def database_url(*, to_restore: bool = False) -> Iterator[str]:
    """The connection string of the database. An embedded PostgreSQL that does not run is started for the block.

    `to_restore`: also a new one; the caller has sole use of DATA_DIR. Raises CannotRun if another process starts it.

    Of several hosts, the one that takes writes: standbys may lack acknowledged ones. `DATABASE_DIRECT_URL` is first:
    a pooler passes on neither replication nor the sessions of a dump.
    """
    if env.text("DATABASE_DIRECT_URL") or env.text("DATABASE_URL"):
        yield make_conninfo("", **deployment.session_parameters(""))
        return
    cluster = embedded(settings.DATA_DIR)
    if not (to_restore or cluster.is_made()):
        raise BackupError(f"{settings.DATA_DIR} has no database: set DATA_DIR or DATABASE_URL to that of the service.")
    with postgres_of_command(settings.DATA_DIR, is_locked=to_restore):
        yield cluster.url


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM ends the block like Ctrl-C, so that drafts are deleted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
