"""Every URL of the admin: its permissions, its refusals, and its texts, without ids, JSON and absolute times."""

from __future__ import annotations

import re
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.services import freeze_agent
from messaging.models import Account, Community, Moderator
from tests.admin.every_page import SENT, EveryPage, session_of, snapshot
from tests.admin.pages import page, read
from tests.api import Api
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
# The paths that need no session.
OPEN = {"/admin/login/"}
CALLERS = (
    *("anonymous", "agent", "person token", "person", "moderator", "staff"),
    *("inactive super admin", "super admin who waits for erasure", "super admin without a second factor"),
)
# An element of `time` has the exact time in its title; a plot has days; what people typed may contain anything; and
# `code` marks an id that is shown to be copied.
NOT_READ = {"time", "svg", "figure", "textarea", "code", "script", "style", "template"}
UNREADABLE = {
    "id": re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-", re.IGNORECASE),
    "JSON": re.compile(r"""[\[{]\s*["'{]|\{\}|\[\]"""),
    "absolute time": re.compile(r"\b20\d\d-\d\d-\d\d\b|\b[A-Z][a-z]{2,8}\.? \d{1,2}, 20\d\d\b"),
}


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


def test_paths_cover_every_kind_of_page_and_a_row_of_each_model(every_page: EveryPage) -> None:
    paths = every_page.paths()
    for part in (
        *("/approve/", "/reject/", "/freeze/", "/unfreeze/", "/narrow/", "/revoke/", "/hide/", "/restore/"),
        *("/disable/", "/enable/", "/try-words/", "/change/", "/history/", "/delete/", "/add/"),
        *("/admin/agents/agentrequest/", "/admin/reactions/reaction/", "/admin/admin/logentry/", "/admin/nowhere"),
    ):
        assert any(part in path for path in paths), part
    assert not any("<" in path or "(" in path for path in paths)
    assert len(paths) > 80
    for model in admin.site._registry:
        list_path = page(model, "changelist")
        assert any(path.startswith(list_path) and path.endswith("/change/") for path in paths), model
        assert model.objects.exists(), model


def test_only_models_of_this_project_are_registered() -> None:
    labels = {model._meta.label for model in admin.site._registry}
    assert labels == {
        *("admin.LogEntry", "agents.Agent", "agents.AgentRequest", "agents.AgentToken", "embeds.Embed"),
        "jobs.QueuedJob",
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


@pytest.mark.parametrize("who", CALLERS)
def test_only_super_admins_can_open_or_change_pages_of_requests(every_page: EveryPage, who: str, settings: Any) -> None:
    paths = [path for path in every_page.one_path_of_each_kind() if "/agents/agentrequest/" in path]
    assert len(paths) > 10
    check_refusals(every_page, who, settings, ["/admin/", "/admin/search/", *paths])


@pytest.mark.slow
@pytest.mark.parametrize("who", CALLERS)
def test_only_super_admins_can_open_or_change_anything(every_page: EveryPage, who: str, settings: Any) -> None:
    check_refusals(every_page, who, settings, sorted(set(every_page.one_path_of_each_kind()) - OPEN))


def check_refusals(every_page: EveryPage, who: str, settings: Any, paths: list[str]) -> None:
    """Ask for the paths and for the actions on their lists. All is refused before a row is read."""
    settings.ADMIN_MFA = who == "super admin without a second factor"
    headers = {
        "agent": every_page.holder.api.credentials,
        "person token": Api.as_person(SuperAdminFactory()).credentials,
    }.get(who, {})
    client = Client() if headers or who == "anonymous" else _session_as(who, every_page)
    before, refused = snapshot(), {"agents_refusedcall", "agents_agenttoken"}
    sign_in = "/account/me/security/" if settings.ADMIN_MFA else "/admin/login/"
    for path in paths:
        for response in (client.get(path, headers=headers), client.post(path, SENT, headers=headers)):
            assert response.status_code in {302, 403, 405}, (path, response.status_code)
            if response.status_code == 302:
                assert response.headers["Location"].startswith(sign_in) or path == "/admin/logout/", path
    sent = [(path, form) for path, form in every_page.actions() if path in paths]
    assert sent
    for path, form in sent:
        assert client.post(path, form, headers=headers).status_code in {302, 403}
    after = snapshot()
    assert {table for table in before if before[table] != after[table]} <= refused


@pytest.mark.slow
def test_get_changes_no_row(every_page: EveryPage) -> None:
    client = session_of(SuperAdminFactory())
    before = snapshot()
    for path in every_page.one_path_of_each_kind():
        response = client.get(path)
        assert response.status_code == _expected(path), path
    for path, sent in every_page.actions():
        query = {name: value for name, value in sent.items() if name != "scopes"}
        assert client.get(path, query).status_code in {200, 302}, path
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


class Texts(HTMLParser):
    """The texts of a page, and the names of its elements for screen readers."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._skipped = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipped += tag in NOT_READ
        if not self._skipped:
            self.found += [value or "" for name, value in attrs if name in {"aria-label", "title", "placeholder"}]

    def handle_endtag(self, tag: str) -> None:
        self._skipped -= tag in NOT_READ

    def handle_data(self, data: str) -> None:
        if not self._skipped and data.strip():
            self.found.append(data.strip())


def unreadable_in(html: str) -> list[str]:
    return [
        f"{what}: {text[:120]}"
        for text in Texts(html).found
        for what, pattern in UNREADABLE.items()
        if pattern.search(text)
    ]


@pytest.mark.slow
def test_no_page_shows_an_id_or_json_or_an_absolute_time(admin_client: Client, every_page: EveryPage) -> None:
    freeze_agent(agent=every_page.holder.agent, by=every_page.boss, reason="Too loud.")
    found: dict[str, list[str]] = {}
    # Rows differ on their own pages; a page of an action says the same of each.
    rows = [path for path in every_page.paths() if path.endswith("/change/")]
    for path in {*every_page.one_path_of_each_kind(), *rows}:
        response = admin_client.get(path)
        if response.status_code == 200 and response["Content-Type"].startswith("text/html"):
            found[path] = unreadable_in(response.content.decode())
    assert {path: texts for path, texts in found.items() if texts} == {}
    assert len(found) > 100


def test_texts_are_found_unreadable() -> None:
    for text in (
        '{"map": []}',
        "{'new': 5}",
        "by @one on 2026-11-24 at",
        "Nov. 24, 2026",
        "of 01a2b3c4-0000-7000-8000-0",
    ):
        assert unreadable_in(f"<p>{text}</p>"), text
        assert not unreadable_in(f"<code>{text}</code>")
    assert not unreadable_in("<p>A post [hidden] of @one</p>")


@pytest.mark.django_db
def test_a_wrong_address_is_a_page_of_the_admin(admin_client: Client) -> None:
    response = admin_client.get("/admin/nowhere/")
    text = response.content.decode()
    assert response.status_code == 404
    assert "<h1>Page not found</h1>" in text
    assert "admin/desk/desk.css" in text
    assert "unsafe" not in response.headers["Content-Security-Policy"]


@pytest.mark.django_db
def test_a_person_who_is_no_super_admin_gets_a_page_that_tells_nothing(client: Client) -> None:
    client.force_login(PersonFactory())
    response = client.get("/admin/messaging/message/")
    text = response.content.decode()
    assert response.status_code == 403
    assert "<h1>Not allowed</h1>" in text
    assert "desk-search" not in text
    assert "/admin/messaging/" not in text


@pytest.mark.django_db
def test_the_page_is_rendered_without_a_query(client: Client) -> None:
    from django.db import connection
    from django.test import RequestFactory

    from kernel.api.exceptions import NotFound
    from kernel.api.html_errors import _page
    from kernel.api.requests import Response

    request = RequestFactory().get("/admin/nowhere/")
    with CaptureQueriesContext(connection) as queries:
        page = _page(request, NotFound(), Response({}, status=404))
    assert (page.status_code, len(queries)) == (404, 0)


def test_the_page_of_an_account_tells_its_last_sign_in(admin_client: Client) -> None:
    never, signed_in = PersonFactory(), PersonFactory()
    Account.objects.filter(pk=signed_in.pk).update(last_login=timezone.now() - timedelta(days=3))
    assert ["3\xa0days" in read(admin_client, person) for person in (never, signed_in)] == [False, True]
