"""What barman has of this service, and whether it can be restored: a report that the metrics read.

A drill restores the latest backup with all of the log into a scratch server, which ends with it, and reads every row.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from config import env
from kernel.metrics.backup_report import read
from runtime import postgres_binaries
from runtime.backups import BackupError, check_contents, connection, program, run

SERVER = "community-messaging"
# How long a recovery may take.
RECOVERY_SECONDS = 24 * 3600
# The newest post tells up to when the backup has the service.
NEWEST = "SELECT count(*), max(created_at) FROM messaging_message"
SETTINGS = """
listen_addresses = ''
unix_socket_permissions = 0700
archive_mode = off
hot_standby = off
fsync = off
autovacuum = off
jit = off
"""


class Barman:
    """The commands of barman for one of its servers. Raises BackupError if one fails."""

    def __init__(self, server: str, config: Path | None = None) -> None:
        found = shutil.which("barman")
        if found is None:
            raise BackupError("barman is not installed on this host: see docs/operations.md, Backup.")
        self._program = Path(found)
        self._options: list[str | Path] = ["--config", config] if config else []
        self.server = server

    def run(self, command: str, *arguments: str | Path) -> str:
        return run(self._program, *self._options, command, self.server, *arguments)

    def backups(self) -> list[dict[str, Any]]:
        """Finished ones, the newest first."""
        listed = self._json("list-backup")
        return [backup for backup in listed if backup["status"] == "DONE"]

    def problems(self) -> list[str]:
        """What `barman check` finds, such as that the log does not arrive."""
        checked = self._json("check")
        return [f"{name}: {found['hint']}" for name, found in checked.items() if found["status"] != "OK"]

    def _json(self, command: str) -> Any:
        """The status of `check` is 1 if it has found something."""
        said = subprocess.run(
            [self._program, *self._options, "--format=json", command, self.server],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            cwd="/",
        )
        try:
            return json.loads(said.stdout)[self.server]
        except (ValueError, KeyError) as error:
            raise BackupError(f"barman {command} failed: {(said.stderr or said.stdout).strip()[:400]}") from error


def report(barman: Barman, *, drill: Path | None) -> dict[str, Any]:
    """Write the report of this moment to BACKUP_REPORT, and return it. `drill` is the folder of a scratch server."""
    file = env.text("BACKUP_REPORT")
    if not file:
        raise BackupError("BACKUP_REPORT is not set: name the file that the report is written to.")
    newest = next(iter(barman.backups()), None)
    content: dict[str, Any] = {
        "at": _now(),
        "backup": newest and {"id": newest["backup_id"], "at": _moment(newest), "bytes": newest["size_bytes"]},
        "problems": barman.problems(),
        "drill": (read(file) or {}).get("drill"),
    }
    if drill is not None and newest:
        content["drill"] = _drill(barman, drill, content)
    draft = Path(f"{file}.part")
    draft.write_text(json.dumps(content, indent=2) + "\n")
    draft.chmod(0o644)
    draft.rename(file)
    return content


def _drill(barman: Barman, folder: Path, content: dict[str, Any]) -> dict[str, Any]:
    before, started = content["drill"] or {}, time.monotonic()
    drill = {"at": _now(), "succeededAt": before.get("succeededAt"), "error": ""}
    try:
        with _scratch_server(barman, folder) as (url, major), connection(url) as session:
            check_contents(session)
            count, newest = session.execute(NEWEST).fetchone() or (0, None)
            # A dump reads every row of every table.
            run(program("pg_dump", major), "--file=/dev/null", url=url)
        drill |= {"posts": count, "newestPost": newest and newest.isoformat(), "succeededAt": _now()}
    except (BackupError, postgres_binaries.PostgresError, OSError) as error:
        drill["error"] = str(error)
    return drill | {"seconds": round(time.monotonic() - started, 1)}


@contextmanager
def _scratch_server(barman: Barman, parent: Path) -> Iterator[tuple[str, int]]:
    """A server with what barman has, in a new folder below `parent`. Yields its address and its major version."""
    with tempfile.TemporaryDirectory(prefix="drill-", dir=parent) as name:
        home = Path(name)
        data = home / "data"
        barman.run("recover", "latest", data)
        major = int((data / "PG_VERSION").read_text())
        # Debian's servers have their settings elsewhere, and those of the service are not for this one.
        for setting in ("postgresql.auto.conf", "pg_ident.conf"):
            (data / setting).write_text("")
        (data / "postgresql.conf").write_text(f"{SETTINGS}unix_socket_directories = '{home}'\n")
        (data / "pg_hba.conf").write_text("local all all trust\n")
        data.chmod(0o700)
        if os.geteuid() == 0:
            user = postgres_binaries.owner()
            subprocess.run(["chown", "-R", f"{user.pw_uid}:{user.pw_gid}", home], check=True)
        control = str(program("pg_ctl", major, or_newer=False))
        postgres_binaries.run(
            control, "start", "--wait", "-t", str(RECOVERY_SECONDS), "-D", data, "-l", home / "log", "--silent"
        )
        try:
            parts = conninfo_to_dict(env.text("DATABASE_DIRECT_URL") or env.text("DATABASE_URL"))
            user_and_name = {key: parts[key] for key in ("user", "dbname") if key in parts}
            yield make_conninfo("", **user_and_name, host=str(home)), major
        finally:
            postgres_binaries.run(control, "stop", "--wait", "-m", "immediate", "-D", data, "--silent")


def _moment(backup: dict[str, Any]) -> str:
    return datetime.fromtimestamp(int(backup["end_time_timestamp"]), UTC).isoformat()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
