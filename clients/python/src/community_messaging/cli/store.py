"""Where `cm` stores who has signed in: the keyring of the operating system, or files that only their owner can read."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

from community_messaging.cli.locks import locked
from community_messaging.credentials import Credential

SERVICE = "community-messaging"
AGENT, PERSON = "agent", "person"
KINDS = (AGENT, PERSON)
LOCK = "lock"


class Store:
    """One credential of each kind for each service, and the address of the service that was signed in to last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def address(self) -> str | None:
        return self._read("address")

    @address.setter
    def address(self, url: str) -> None:
        self._write("address", url)

    def get(self, url: str, kind: str) -> Credential | None:
        return self._get(_name(url, kind))

    def put(self, url: str, kind: str, credential: Credential) -> None:
        with self._lock():
            self._put(_name(url, kind), credential)

    def replace(self, url: str, kind: str, read: Credential, renewed: Credential) -> None:
        """Store a renewed credential, unless another `cm` has changed the one that was read."""
        with self._lock():
            if self.get(url, kind) == read:
                self._put(_name(url, kind), renewed)

    def remove(self, url: str, kind: str) -> bool:
        """Return False if a credential remains: a keyring may refuse to delete it, and a file may be in use."""
        name = _name(url, kind)
        with self._lock():
            _keyring("delete_password", name)
            self._delete(name)
            return self._get(name) is None

    def waiting(self, url: str, name: str) -> str | None:
        """The device code under which this program waits for a token, so that another run can fetch it."""
        return self._read(_name(url, f"waiting-{name}"))

    def wait(self, url: str, name: str, device_code: str) -> None:
        with self._lock():
            self._write(_name(url, f"waiting-{name}"), device_code)

    def end_waiting(self, url: str, name: str) -> None:
        with self._lock():
            self._delete(_name(url, f"waiting-{name}"))

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Keep each other `cm` from changing credentials."""
        with ExitStack() as stack:
            # Without a lock in a folder that cannot be written, and on a drive that has no locks.
            with suppress(OSError):
                self._create_folder()
                stack.enter_context(locked(self._folder / LOCK))
            yield

    def _get(self, name: str) -> Credential | None:
        # A file is later than the entry of the keyring: `_put` deletes it when the keyring takes the credential.
        return _credential(self._read(name)) or _credential(_keyring("get_password", name))

    def _put(self, name: str, credential: Credential) -> None:
        text = json.dumps(asdict(credential))
        _keyring("set_password", name, text)
        is_in_keyring = _keyring("get_password", name) == text
        if is_in_keyring:
            self._delete(name)
        # `_get` prefers a file, so one that cannot be deleted is replaced.
        if not is_in_keyring or self._read(name):
            self._write(name, text)
            _keyring("delete_password", name)

    def _read(self, name: str) -> str | None:
        try:
            return (self._folder / name).read_text().strip()
        except (OSError, UnicodeDecodeError):
            return None

    def _write(self, name: str, text: str) -> None:
        """Replace the file at once, so that a reader never finds half of it."""
        self._create_folder()
        # mkstemp creates files with mode 0600.
        descriptor, temporary = tempfile.mkstemp(dir=self._folder)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        Path(temporary).replace(self._folder / name)

    def _create_folder(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _delete(self, name: str) -> None:
        with suppress(OSError):
            (self._folder / name).unlink()


def _name(url: str, kind: str) -> str:
    return f"{quote(url, safe='')}.{kind}"


def _credential(text: str | None) -> Credential | None:
    """None also for a text that this version has not written, which is as if nobody had signed in."""
    try:
        return Credential(**json.loads(text)) if text else None
    except (ValueError, TypeError, RecursionError):
        return None


def _keyring(function: str, name: str, *arguments: str) -> Any:
    """Call a function of the library keyring. None without the library, without a keyring, or if it refuses."""
    try:
        import keyring

        return getattr(keyring, function)(SERVICE, name, *arguments)
    except Exception:  # noqa: BLE001  that of Windows refuses long records with an exception of another library
        return None
