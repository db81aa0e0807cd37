"""Secrets of the service: from the environment, or from the file `make run` keeps in its data folder."""

import json
import os
import secrets as randomness
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config import env
from config.runtime.postgres import embedded

NAMES = ("SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER")
# What an old one of these was used for still counts for a while, as <name>_PREVIOUS. Of SECRET_KEY nothing does: its
# previous one is only recognised by `config.fingerprints`.
OUTLIVED = ("ROOT_KEY", "TOKEN_PEPPER")
# Django's own check of SECRET_KEY asks for as many.
SECRET_MIN = 50
DEVELOPMENT_MARK = "for-development-only"


def make_once(data: Path) -> None:
    """Write the secrets of this data folder if it has none yet (a file only its owner reads).

    Never beside a database that exists, which was used with others, and never for one that other hosts may use.
    """
    if env.text("DATABASE_URL") or embedded(data).is_made() or _file(data).exists():
        return
    _write(_file(data), {name: new() for name in NAMES})


def require(*, data: Path, debug: bool) -> None:
    """Raises ImproperlyConfigured as `read` does, for any of the secrets."""
    for name in NAMES:
        read(name, data=data, debug=debug)


def new() -> str:
    return randomness.token_urlsafe(48)


def rotate(name: str, *, data: Path) -> None:
    """Put a new secret into the file. The one before stays beside it."""
    kept = _kept(data)
    _write(_file(data), kept | {previous(name): kept[name], name: new()})


def forget_previous(name: str, *, data: Path) -> None:
    """End a rotation: what only the secret before opens is lost from now on."""
    _write(_file(data), {held: value for held, value in _kept(data).items() if held != previous(name)})


def previous(name: str) -> str:
    """The name under which the secret before is kept."""
    return f"{name}_PREVIOUS"


def read(name: str, *, data: Path, debug: bool) -> str:
    """Raises ImproperlyConfigured where production would run with a missing, short or well-known secret."""
    value = env.text(name) or _kept(data).get(name, "")
    if debug:
        return value or f"{name.lower()}-{DEVELOPMENT_MARK}-{'0' * SECRET_MIN}"
    if not value:
        raise ImproperlyConfigured(_what_to_do_without(name, data))
    if len(value) < SECRET_MIN or DEVELOPMENT_MARK in value:
        raise ImproperlyConfigured(f"{name} is too short or well known: set {SECRET_MIN} or more random characters.")
    return value


def read_previous(name: str, *, data: Path) -> str:
    """The secret before this one while a rotation is under way, else nothing."""
    return env.text(previous(name)) or _kept(data).get(previous(name), "")


def is_kept(name: str, *, data: Path) -> bool:
    """Whether the file says what this secret is (and not the environment)."""
    return not env.text(name) and name in _kept(data)


def _what_to_do_without(name: str, data: Path) -> str:
    if env.text("DATABASE_URL"):
        return (
            f"{name} is missing, and is not made for a DATABASE_URL: set it to that of the other hosts, "
            f"or for a new database to {SECRET_MIN} or more random characters."
        )
    if embedded(data).is_made():
        return (
            f"{name} is missing: put back {_file(data)}, which belongs to the database beside it "
            "(where it is lost: SECURITY.md, Lost secrets)."
        )
    return f"Set {name} to {SECRET_MIN} or more random characters, or use `make run`."


def _write(file: Path, held: dict[str, str]) -> None:
    draft = file.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        json.dump(held, out, indent=2)
        out.flush()
        os.fsync(out.fileno())
    draft.rename(file)
    _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    """A rename reaches the disk with its folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _file(data: Path) -> Path:
    return data / "secrets.json"


def _kept(data: Path) -> dict[str, str]:
    try:
        kept: dict[str, str] = dict(json.loads(_file(data).read_text()))
    except FileNotFoundError:
        return {}
    except (OSError, TypeError, ValueError) as error:
        raise ImproperlyConfigured(f"{_file(data)} cannot be read: {error}") from error
    return kept
