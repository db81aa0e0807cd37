"""The file of settings of an installed service: one `NAME=value` a line, as systemd and containers read it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from runtime.data_folder import CannotRun

DEFAULT = Path("/etc/community-messaging.env")
# systemd would take them for quotes, escapes, or the end of the value.
REFUSED = frozenset("\"'\\\n\r")


def read(path: Path) -> dict[str, str]:
    """The values by name. Raises CannotRun for a file that cannot be read."""
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise CannotRun(f"{path} cannot be read ({error.strerror})") from error
    pairs = (line.partition("=") for line in lines if line.strip() and not line.lstrip().startswith(("#", ";")))
    return {name.strip(): value.strip() for name, _equals, value in pairs}


def apply(path: Path) -> None:
    """Add the settings of the file to the environment of this process, in which those that are set stay."""
    for name, value in read(path).items():
        os.environ.setdefault(name, value)


def write(path: Path, values: Mapping[str, str]) -> None:
    """Replace the file, which only its owner can read. Raises CannotRun for a value that systemd reads otherwise."""
    for name, value in values.items():
        if REFUSED & set(value) or value != value.strip():
            raise CannotRun(f"{name} has a quote, a backslash or white space around it: percent-encode it in addresses")
    draft = path.with_name(f"{path.name}.new")
    try:
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.writelines(f"{name}={value}\n" for name, value in values.items())
            out.flush()
            os.fsync(out.fileno())
        draft.rename(path)
    except OSError as error:
        raise CannotRun(f"{path} cannot be written ({error.strerror}): run this as root, or give --env-file") from error
