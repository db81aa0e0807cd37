"""Secrets of the service: from the environment, or from the file `make run` keeps in its data folder."""

import json
import os
import secrets as randomness
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config import env

NAMES = ("SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER")
# What an old one of these was used for still counts for a while, as <name>_PREVIOUS.
OUTLIVED = ("ROOT_KEY", "TOKEN_PEPPER")
# Django's own check of SECRET_KEY asks for as many.
SECRET_MIN = 50
DEVELOPMENT_MARK = "for-development-only"


def make_once(data: Path) -> None:
    """Write the secrets of this data folder if it has none yet (a file only its owner reads)."""
    file = _file(data)
    if file.exists():
        return
    _write(file, {name: new() for name in NAMES})


def new() -> str:
    return randomness.token_urlsafe(48)


def rotate(name: str, *, data: Path) -> None:
    """Put a new secret into the file. The one before stays beside it where it still counts."""
    kept = _kept(data)
    before = {previous(name): kept[name]} if name in OUTLIVED else {}
    _write(_file(data), kept | before | {name: new()})


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
        raise ImproperlyConfigured(f"Set {name} to {SECRET_MIN} or more random characters, or use `make run`.")
    if len(value) < SECRET_MIN or DEVELOPMENT_MARK in value:
        raise ImproperlyConfigured(f"{name} is too short or well known: set {SECRET_MIN} or more random characters.")
    return value


def read_previous(name: str, *, data: Path) -> str:
    """The secret before this one while a rotation is under way, else nothing."""
    return env.text(previous(name)) or _kept(data).get(previous(name), "")


def is_kept(name: str, *, data: Path) -> bool:
    """Whether the file says what this secret is (and not the environment)."""
    return not env.text(name) and name in _kept(data)


def _write(file: Path, held: dict[str, str]) -> None:
    draft = file.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        json.dump(held, out, indent=2)
    draft.rename(file)


def _file(data: Path) -> Path:
    return data / "secrets.json"


def _kept(data: Path) -> dict[str, str]:
    try:
        kept: dict[str, str] = json.loads(_file(data).read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ImproperlyConfigured(f"{_file(data)} cannot be read: {error}") from error
    return kept
