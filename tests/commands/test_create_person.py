from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.test import Client

from messaging.accounts.services import authenticate
from messaging.accounts.visitors import Visitor
from messaging.models import Account
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.commands.running import refused, run_json
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
VISITOR = Visitor("192.0.2.1")


def test_create_person_prints_the_person() -> None:
    printed = run_json("create_person", "ada_l", "--name", "Ada Lovelace", "--password", PASSWORD)
    account = Account.objects.get()
    assert printed == {
        "id": str(account.pk),
        "handle": "ada_l",
        "name": "Ada Lovelace",
        "kind": "human",
        "staff": False,
        "superAdmin": False,
    }
    response = Api().post("/api/auth/login", {"handle": "ada_l", "password": PASSWORD})
    assert response.json["user"]["id"] == printed["id"]


def test_nobody_is_created_under_another_root_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which could not tell the handles of erased accounts."""
    run_json("create_person", "first_one")
    monkeypatch.setenv("ROOT_KEY", "o" * 60)
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    with pytest.raises(ImproperlyConfigured, match="ROOT_KEY is not the secret"):
        run_json("create_person", "second_one")
    with pytest.raises(ImproperlyConfigured, match="ROOT_KEY is not the secret"):
        call_command("createsuperuser", "--noinput", handle="third_one", name="Third")
    assert Account.objects.count() == 1


def test_setting_the_same_password_ends_no_session() -> None:
    run_json("create_person", "ada_l", "--password", PASSWORD, "--super-admin")
    session, of_another = Client(), Client()
    of_another.force_login(SuperAdminFactory())
    assert session.login(handle="ada_l", password=PASSWORD)
    run_json("create_person", "ada_l", "--password", PASSWORD)
    assert session.get("/admin/").status_code == 200
    run_json("create_person", "ada_l", "--password", f"{PASSWORD} another")
    assert session.get("/admin/").status_code == 302, "a new password ends sessions"
    assert of_another.get("/admin/").status_code == 200


def test_a_second_run_changes_only_the_given_options() -> None:
    first = run_json("create_person", "ada_l", "--name", "Ada", "--password", PASSWORD, "--super-admin")
    again = run_json("create_person", "ada_l")
    assert again == first
    assert (first["staff"], first["superAdmin"]) == (True, True)
    renamed = run_json("create_person", "ada_l", "--name", "Ada Lovelace", "--password", "another horse battery")
    assert renamed == first | {"name": "Ada Lovelace"}
    assert authenticate(handle="ada_l", password="another horse battery", visitor=VISITOR).name == "Ada Lovelace"
    assert Account.objects.count() == 1


def test_options_are_optional_and_passwords_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = run_json("create_person", "ada_l", "--staff")
    assert (printed["name"], printed["staff"], printed["superAdmin"]) == ("ada_l", True, False)
    assert not Account.objects.get().has_usable_password()
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
    run_json("create_person", "ada_l", "--password", "-")
    assert authenticate(handle="ada_l", password="short", visitor=VISITOR).handle == "ada_l"


def test_invalid_arguments_are_refused_in_one_line_and_change_nothing() -> None:
    for handle in ("Ada", "ab", "ÄÄÄada", "ada_l\n"):
        assert "handle" in refused("create_person", handle)
    for name in ("", "x" * 61, "  "):
        assert "name" in refused("create_person", "ada_l", "--name", name)
    assert not Account.objects.exists()
    before = PersonFactory(handle="ada_l", password=PASSWORD)
    refused("create_person", "ada_l", "--super-admin", "--name", "x" * 61)
    after: Any = Account.objects.get()
    assert (after.name, after.password, after.is_superuser) == (before.name, before.password, False)
    assert "handle_taken" in refused("create_person", agent_with_token().account.handle)
