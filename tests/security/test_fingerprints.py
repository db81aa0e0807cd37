"""A host does not start if its secrets are not those of its database; the error is one sentence."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection

from config import secrets
from kernel import fingerprints
from kernel.writes.models import SecretFingerprint
from runtime import streams
from tests.agents.racing import race
from tests.factories import PersonFactory

OLD, NEW, OTHER = (f"{name}-secret-{'s' * 50}" for name in ("old", "new", "other"))
Setter = Callable[..., None]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Setter:
    """Sets a secret (ROOT_KEY by default) and its previous value."""

    def set_secrets(current: str, previous: str = "", *, name: str = "ROOT_KEY") -> None:
        monkeypatch.setenv(name, current)
        monkeypatch.setenv(f"{name}_PREVIOUS", previous)

    return set_secrets


def start() -> None:
    fingerprints.require_known_secrets()


def stored() -> dict[str, bytes]:
    return {name: bytes(value) for name, value in SecretFingerprint.objects.values_list("name", "fingerprint")}


@pytest.mark.django_db
def test_first_start_stores_fingerprints_and_no_secret(use: Setter) -> None:
    use(OLD, name="ROOT_KEY")
    use(OLD, name="TOKEN_PEPPER")
    start()
    rows = stored()
    assert rows.keys() == set(secrets.NAMES)
    assert {len(value) for value in rows.values()} == {32}
    assert rows["ROOT_KEY"] != rows["TOKEN_PEPPER"], "equal secrets, equal fingerprints"
    assert not any(OLD.encode() in value for value in rows.values())


@pytest.mark.django_db
def test_start_with_the_same_secrets_writes_nothing(django_assert_num_queries: Any) -> None:
    start()
    # SAVEPOINT, RELEASE, table exists, rows.
    with django_assert_num_queries(4):
        start()


@pytest.mark.django_db
@pytest.mark.parametrize("name", secrets.NAMES)
def test_start_with_another_secret_is_refused_and_writes_nothing(use: Setter, name: str) -> None:
    start()
    before = stored()
    for previous in ("", NEW):
        use(OTHER, previous, name=name)
        with pytest.raises(ImproperlyConfigured, match=f"^{name} is not the secret that this database") as refusal:
            start()
        assert f"rotate_secret {name} --lost" in str(refusal.value)
        assert OTHER not in str(refusal.value)
    assert stored() == before


@pytest.mark.django_db
def test_refused_start_stores_no_other_fingerprint(use: Setter) -> None:
    start()
    SecretFingerprint.objects.filter(name="ROOT_KEY").delete()
    use(OTHER, name="TOKEN_PEPPER")
    with pytest.raises(ImproperlyConfigured):
        start()
    assert "ROOT_KEY" not in stored()


@pytest.mark.django_db
@pytest.mark.parametrize("name", secrets.NAMES)
def test_the_current_secret_replaces_the_previous_one(use: Setter, name: str) -> None:
    use(OLD, name=name)
    start()
    use(NEW, OLD, name=name)
    start()
    assert stored()[name] == fingerprints.fingerprint(name, NEW)
    use(NEW, name=name)
    start()
    use(OLD, name=name)
    with pytest.raises(ImproperlyConfigured):
        start()


@pytest.mark.django_db
def test_hosts_start_in_any_order_during_a_rotation(use: Setter) -> None:
    use(OLD)
    start()
    rotated, waiting = (NEW, OLD), (OLD, NEW)
    for host in (waiting, rotated, waiting, waiting, rotated, rotated, waiting, rotated):
        use(*host)
        start()
    use(NEW)
    start()


@pytest.mark.django_db(transaction=True)
def test_concurrent_starts_store_one_fingerprint(use: Setter) -> None:
    use(OLD)
    race(8, lambda _number: start())
    use(NEW, OLD)
    race(8, lambda _number: start())
    assert stored()["ROOT_KEY"] == fingerprints.fingerprint("ROOT_KEY", NEW)


@pytest.mark.django_db
def test_database_before_its_first_migration_is_accepted(tmp_path: Any) -> None:
    parameters = connection.get_connection_params() | {"dbname": "postgres"}
    with psycopg.connect(**parameters) as empty:
        fingerprints.check(empty.cursor(), data=tmp_path, debug=False)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "command",
    [
        ("issue_user_token", "{handle}"),
        ("demo",),
        ("rotate_secret", "TOKEN_PEPPER"),
        ("rotate_secret", "ROOT_KEY", "--finish"),
        ("worker",),
        ("prune",),
        ("prune", "--dry-run"),
    ],
)
def test_commands_that_use_a_secret_refuse_another_one(use: Setter, command: tuple[str, ...]) -> None:
    start()
    person = PersonFactory()
    use(OTHER)
    with pytest.raises(ImproperlyConfigured, match="ROOT_KEY is not the secret"):
        call_command(*(argument.format(handle=person.handle) for argument in command), stdout=io.StringIO())


@pytest.mark.django_db
def test_the_stream_process_refuses_another_secret(use: Setter, monkeypatch: pytest.MonkeyPatch) -> None:
    start()
    use(OTHER)
    monkeypatch.setattr(sys, "argv", ["streams"])
    with pytest.raises(SystemExit, match="ROOT_KEY is not the secret"):
        streams.main()


@pytest.mark.django_db
@pytest.mark.parametrize("name", secrets.NAMES)
def test_rotate_secret_lost_accepts_the_current_secret_with_a_warning(use: Setter, name: str) -> None:
    start()
    use(OTHER, name=name)
    output, warnings = io.StringIO(), io.StringIO()
    call_command("rotate_secret", name, "--lost", stdout=output, stderr=warnings)
    assert f"belongs to the present {name}" in output.getvalue()
    assert warnings.getvalue().strip()
    start()
    assert stored()[name] == fingerprints.fingerprint(name, OTHER)
