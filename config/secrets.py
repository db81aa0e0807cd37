"""Secrets of the service: from the environment, or from the file that `make run` writes to its data folder."""

import json
import os
import secrets as randomness
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config import env
from runtime.postgres import embedded

NAMES = ("SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER")
# Secrets that are still used after a rotation, as <name>_PREVIOUS. The previous SECRET_KEY is only compared by
# `kernel.fingerprints`.
OUTLIVED = ("ROOT_KEY", "TOKEN_PEPPER")
# The same minimum as in Django's check of SECRET_KEY.
SECRET_MIN = 50
DEVELOPMENT_MARK = "for-development-only"


def make_once(data: Path) -> None:
    """Create the secrets of this data folder if it has none (a file that only its owner can read).

    Does nothing if a database exists, because it was used with other secrets, or if other hosts may use the database.
    """
    if env.text("DATABASE_URL") or embedded(data).is_made() or _file(data).exists():
        return
    _write(_file(data), {name: new() for name in NAMES})


def require(*, data: Path, debug: bool) -> None:
    """Raises ImproperlyConfigured if `read` does so for any secret."""
    for name in NAMES:
        read(name, data=data, debug=debug)


def new() -> str:
    return randomness.token_urlsafe(48)


def rotate(name: str, *, data: Path) -> None:
    """Write a new secret to the file, and the current one as the previous one."""
    stored = _stored(data)
    _write(_file(data), stored | {previous(name): stored[name], name: new()})


def forget_previous(name: str, *, data: Path) -> None:
    """End a rotation: data that only the previous secret can decrypt or verify is lost."""
    _write(_file(data), {key: value for key, value in _stored(data).items() if key != previous(name)})


def previous(name: str) -> str:
    """The name of the previous secret, in the environment and in the file."""
    return f"{name}_PREVIOUS"


def read(name: str, *, data: Path, debug: bool) -> str:
    """Raises ImproperlyConfigured for a missing, short or well-known secret, unless `debug` is set."""
    value = env.text(name) or _stored(data).get(name, "")
    if debug:
        return value or f"{name.lower()}-{DEVELOPMENT_MARK}-{'0' * SECRET_MIN}"
    if not value:
        raise ImproperlyConfigured(_missing_text(name, data))
    if len(value) < SECRET_MIN or DEVELOPMENT_MARK in value:
        raise ImproperlyConfigured(f"{name} is too short or well known: set {SECRET_MIN} or more random characters.")
    return value


def read_previous(name: str, *, data: Path) -> str:
    """The previous secret during a rotation, else an empty string."""
    return env.text(previous(name)) or _stored(data).get(previous(name), "")


def is_in_file(name: str, *, data: Path) -> bool:
    """Whether this secret comes from the file and not from the environment."""
    return not env.text(name) and name in _stored(data)


def _missing_text(name: str, data: Path) -> str:
    if env.text("DATABASE_URL"):
        return (
            f"{name} is missing, and is not created for a DATABASE_URL: set it to that of the other hosts, "
            f"or for a new database to {SECRET_MIN} or more random characters."
        )
    if embedded(data).is_made():
        return (
            f"{name} is missing: restore {_file(data)}, which belongs to the database in the same folder "
            "(if it is lost: SECURITY.md, Lost secrets)."
        )
    return f"Set {name} to {SECRET_MIN} or more random characters, or use `make run`."


def _write(file: Path, stored: dict[str, str]) -> None:
    draft = file.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        json.dump(stored, out, indent=2)
        out.flush()
        os.fsync(out.fileno())
    draft.rename(file)
    _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _file(data: Path) -> Path:
    return data / "secrets.json"


def _stored(data: Path) -> dict[str, str]:
    try:
        stored: dict[str, str] = dict(json.loads(_file(data).read_text()))
    except FileNotFoundError:
        return {}
    except (OSError, TypeError, ValueError) as error:
        raise ImproperlyConfigured(f"{_file(data)} cannot be read: {error}") from error
    return stored
