"""The permissions of every URL of the admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.utils import timezone

from messaging.models import Account, Community, Moderator
from tests.admin.every_page import SENT, EveryPage, session_of, snapshot
from tests.admin.pages import page
from tests.api import Api
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
# The paths that need no session.
OPEN = {"/admin/login/"}
CALLERS = (
    *("anonymous", "agent", "person token", "person", "moderator", "staff"),
    *("inactive super admin", "super admin who waits for erasure", "super admin without a second factor"),
)


@pytest.fixture
def every_page() -> EveryPage:
    return EveryPage()


def _expected(path: str) -> int:
    """The status of GET for a super admin."""
    *_, before, last = path.rstrip("/").split("/")
    may_add, may_delete = before in {"community", "readyreason"}, "/readyreason/" in path
    if path == "/admin/autocomplete/" or (last == "delete" and not may_delete) or (last == "add" and not may_add):
        return 403
    if path == "/admin/r/1/1/" or last == "nowhere" or before == "record":
        return 404
    if last in {"logout", "decide", "run", "saved"}:
        return 405
    # The path of a row redirects to its change page, the sign-in page to the index, that of a password elsewhere.
    return 302 if last in {"login", "password_change"} or last.count("-") == 4 or last.isdecimal() else 200


def test_paths_cover_every_kind_of_page(every_page: EveryPage) -> None:
    paths = every_page.paths()
    for part in (
        *("/approve/", "/reject/", "/freeze/", "/unfreeze/", "/narrow/", "/revoke/", "/hide/", "/restore/"),
        *("/disable/", "/enable/", "/try-words/", "/change/", "/history/", "/delete/", "/add/"),
        *("/admin/agents/agentrequest/", "/admin/reactions/reaction/", "/admin/admin/logentry/", "/admin/nowhere"),
    ):
        assert any(part in path for path in paths), part
    assert not any("<" in path or "(" in path for path in paths)
    assert len(paths) > 80


def test_paths_lead_to_a_row_of_each_model(every_page: EveryPage) -> None:
    paths = every_page.paths()
    for model in admin.site._registry:
        list_path = page(model, "changelist")
        assert any(path.startswith(list_path) and path.endswith("/change/") for path in paths), model
        assert model.objects.exists(), model


def test_only_models_of_this_project_are_registered() -> None:
    labels = {model._meta.label for model in admin.site._registry}
    assert labels == {
        *("admin.LogEntry", "agents.Agent", "agents.AgentRequest", "agents.AgentToken", "embeds.Embed"),
        *("messaging.Account", "messaging.BulkJob", "messaging.Community", "messaging.Message", "messaging.Report"),
        *("messaging.ReadyReason", "messaging.SignIn", "messaging.Webhook", "moving.Move", "reactions.Reaction"),
    }


def moderator_of(community: Community) -> Account:
    person: Account = PersonFactory()
    Moderator.objects.create(account=person, community=community)
    return person


def _session_as(who: str, every_page: EveryPage) -> Client:
    match who:
        case "person":
            return session_of(PersonFactory())
        case "moderator":
            return session_of(moderator_of(every_page.community))
        case "staff":
            return session_of(PersonFactory(is_staff=True))
    boss = SuperAdminFactory()
    client, changed = session_of(boss), Account.objects.filter(pk=boss.pk)
    if who == "inactive super admin":
        changed.update(is_active=False)
    elif who == "super admin who waits for erasure":
        changed.update(erasure_due_at=timezone.now())
    return client


@pytest.mark.slow
@pytest.mark.parametrize("who", CALLERS)
def test_only_super_admins_can_open_or_change_anything(every_page: EveryPage, who: str, settings: Any) -> None:
    settings.ADMIN_MFA = who == "super admin without a second factor"
    headers = {
        "agent": every_page.holder.api.credentials,
        "person token": Api.as_person(SuperAdminFactory()).credentials,
    }.get(who, {})
    client = Client() if headers or who == "anonymous" else _session_as(who, every_page)
    before, refused = snapshot(), {"agents_refusedcall", "agents_agenttoken"}
    sign_in = "/account/me/security/" if settings.ADMIN_MFA else "/admin/login/"
    # Refused before a row is read.
    for path in set(every_page.one_path_of_each_kind()) - OPEN:
        for response in (client.get(path, headers=headers), client.post(path, SENT, headers=headers)):
            assert response.status_code in {302, 403, 405}, (path, response.status_code)
            if response.status_code == 302:
                assert response.headers["Location"].startswith(sign_in) or path == "/admin/logout/", path
    for path, sent in every_page.actions():
        assert client.post(path, sent, headers=headers).status_code in {302, 403}
    after = snapshot()
    assert {table for table in before if before[table] != after[table]} <= refused


@pytest.mark.slow
def test_get_changes_no_row(every_page: EveryPage) -> None:
    client = session_of(SuperAdminFactory())
    before = snapshot()
    for path in every_page.paths():
        response = client.get(path)
        assert response.status_code == _expected(path), path
    for path, sent in every_page.actions():
        assert client.get(path, {name: value for name, value in sent.items() if name != "scopes"}).status_code in {
            200,
            302,
        }
    assert snapshot() == before


@pytest.mark.slow
def test_post_requires_the_csrf_token(every_page: EveryPage) -> None:
    client = session_of(SuperAdminFactory(), checks_csrf=True)
    before = snapshot()
    for path in every_page.one_path_of_each_kind():
        assert client.post(path, SENT).status_code == 403, path
    for path, sent in every_page.actions():
        assert client.post(path, sent).status_code == 403
    assert snapshot() == before


def test_staff_without_superuser_see_nothing(client: Client) -> None:
    PersonFactory(handle="just_staff", is_staff=True, password="correct horse battery")
    SuperAdminFactory(handle="the_boss", password="correct horse battery")
    for handle, status in (("just_staff", 403), ("the_boss", 200)):
        sent = {"login": handle, "password": "correct horse battery", "next": "/admin/"}
        assert client.post("/account/sign-in/", sent)["Location"] == "/admin/"
        assert client.get("/admin/").status_code == status
        client.post("/account/sign-out/")
