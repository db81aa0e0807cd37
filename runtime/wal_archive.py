"""The archive of the embedded PostgreSQL's log (WAL_ARCHIVE), for a restore to a point in time.

PostgreSQL runs `archive_command` for each finished file of its log, and again until it succeeds. The command never
replaces a file, and a file has its name only when it is complete and on the disk. An empty rest of a file compresses to
almost nothing, so a file that is ended early after WAL_ARCHIVE_SECONDS is small.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config import env
from runtime import postgres_binaries

SECONDS = 60


def folder() -> Path | None:
    """WAL_ARCHIVE; None if nothing is archived. Raises ImproperlyConfigured for a relative path."""
    path = env.text("WAL_ARCHIVE")
    if not path:
        return None
    if not Path(path).is_absolute():
        raise ImproperlyConfigured(f"WAL_ARCHIVE is {path!r}: write an absolute path, on another disk than DATA_DIR.")
    return Path(path)


def settings() -> dict[str, str]:
    """The settings of PostgreSQL that archive its log; none without WAL_ARCHIVE."""
    archive = folder()
    if archive is None:
        return {}
    return {
        "archive_mode": "on",
        "archive_command": archive_command(archive),
        "archive_timeout": str(env.integer("WAL_ARCHIVE_SECONDS", SECONDS, minimum=1, maximum=86_400)),
    }


def prepare() -> None:
    """Create the archive for the user that runs PostgreSQL."""
    archive = folder()
    if archive is None:
        return
    try:
        archive.mkdir(parents=True, mode=0o700, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"WAL_ARCHIVE: {archive} cannot be created ({error.strerror}).") from error
    postgres_binaries.hand_over(archive)


def archive_command(archive: Path) -> str:
    """A file that is there already must be the same: two databases must not share an archive."""
    quoted = shlex.quote(str(archive).replace("%", "%%"))
    return (
        f'cd {quoted}/. && SOURCE="$OLDPWD/%p" && if test -e %f.gz; then gzip -dc %f.gz | cmp -s - "$SOURCE"; '
        'else gzip -1 < "$SOURCE" > %f.part && sync %f.part && mv %f.part %f.gz && sync .; fi'
    )


def restore_command(archive: Path) -> str:
    """Of a server that is restored.

    A status up to 125 means that the log ends here, which is so only if the archive has no such file. For PostgreSQL, a
    higher one is a failure that ends the recovery.
    """
    quoted = shlex.quote(str(archive).replace("%", "%%"))
    return (
        f'test -x {quoted}/. || exit 255; test -e {quoted}/%f.gz || exit 1; gzip -dc {quoted}/%f.gz > "%p" || exit 255'
    )
