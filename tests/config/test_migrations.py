"""An applied migration is never edited: databases that ran it before would differ from those that run it later."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection

APPS = (
    *("kernel/writes", "kernel/changes", "messaging", "agents", "reactions", "embeds", "mails", "moving", "oauth"),
    *("account_area", "desk", "kernel/jobs"),
)
# In the format of `sha256sum`.
LIST = Path(__file__).with_name("applied_migrations.txt")
DEFINITION = "SELECT pg_get_functiondef('api_open_unit'::regproc)"


def listed() -> dict[str, str]:
    """The digest of each applied migration by its path."""
    return {path: digest for digest, path in (line.split() for line in LIST.read_text().splitlines())}


def digests() -> dict[str, str]:
    files = [file for app in APPS for file in (settings.BASE_DIR / app / "migrations").glob("[0-9]*.py")]
    return {str(file.relative_to(settings.BASE_DIR)): sha256(file.read_bytes()).hexdigest() for file in files}


def complaints(listed: dict[str, str], digests: dict[str, str]) -> list[str]:
    edited = [path for path, digest in listed.items() if path in digests and digests[path] != digest]
    return [
        *(f"{path} was edited: restore it, and put the change into a migration of its own." for path in edited),
        *(f"{path} was applied: it has to stay." for path in listed.keys() - digests.keys()),
        *(f"{path} is new: add to {LIST.name}: {digests[path]}  {path}" for path in digests.keys() - listed.keys()),
    ]


def test_an_applied_migration_is_never_edited() -> None:
    assert complaints(listed(), digests()) == []


def test_the_error_states_what_to_do() -> None:
    applied, new = {"a/0001.py": "1"}, {"a/0002.py": "3"}
    edited = "a/0001.py was edited: restore it, and put the change into a migration of its own."
    assert complaints(applied, {"a/0001.py": "2"}) == [edited]
    assert complaints(applied, {}) == ["a/0001.py was applied: it has to stay."]
    assert complaints(applied, applied | new) == ["a/0002.py is new: add to applied_migrations.txt: 3  a/0002.py"]


@pytest.mark.django_db(transaction=True)
def test_migration_0003_is_reversible() -> None:
    """With the same arguments and columns, so that the releases before and after it work with both."""
    after = definition()
    try:
        call_command("migrate", "api", "0002", verbosity=0)
        before = definition()
    finally:
        # The migrations of all apps: those that depend on these ones have been reversed too.
        call_command("migrate", verbosity=0)
    assert definition() == after
    signature, body = before.split("AS $function$")
    assert after.startswith(signature)
    assert body not in after


def definition() -> str:
    with connection.cursor() as cursor:
        cursor.execute(DEFINITION)
        return str(cursor.fetchone()[0])
