"""PostgreSQL's programs for backups: those of the embedded PostgreSQL, or installed ones of the version of a server."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from runtime import postgres_binaries, processes
from runtime.backups import BackupError
from runtime.postgres_binaries import PostgresError

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
