"""The permissions of every URL of the admin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver
from django.utils import timezone

from messaging.models import Account
from messaging.services.bulk_jobs import start_job
from messaging.services.moderation import hide_message
from tests.agents.factories import RequestFactory, TokenHolder, agent_with_token
from tests.api import Api
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
# The paths that need no session.
OPEN = {"/admin/login/"}
SENT = {
    "reason": "Because.",
    "post": "yes",
    "scopes": ["post"],
    "name": "Mine",
    "slug": "mine",
    "pre_moderation": "off",
    "text": "spam",
    "new_password1": "a new pass word",
    "new_password2": "a new pass word",
}


class EveryPage:
    """Creates at least one row of each registered model."""

    def __init__(self) -> None:
        self.holder: TokenHolder = agent_with_token()
        self.holder.api.post("/v1/reactions", {"messageId": str(MessageFactory().pk), "emoji": "👍"})
        CommunityFactory(blocked_words=["spam"])
        MessageFactory(status="pending")
        RequestFactory()
        an_embed()
        hide_message(message_id=MessageFactory().pk, by=SuperAdminFactory())
        start_job(kind="agents.agentrequest:reject", label="Reject", ids=[RequestFactory().pk], by=SuperAdminFactory())

    def paths(self) -> list[str]:
        """Every path of the admin, with the id of each row of the path's model."""
        return sorted(set(_paths(admin.site.get_urls())))

    def actions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each bulk action on all rows of a list: (path, confirmed form)."""
        for model, rows in admin.site._registry.items():
            ids = [str(pk) for pk in model.objects.values_list("pk", flat=True)]
            path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
            for decision in getattr(rows, "row_actions", ()):
                yield path, SENT | {"action": decision.name, "_selected_action": ids, "confirmed": "1"}


@pytest.fixture
def every_page() -> EveryPage:
    return EveryPage()


def _paths(patterns: list[Any], prefix: str = "/admin/", model: Any = None) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _paths(
                pattern.url_patterns, prefix + str(pattern.pattern), _model(prefix + str(pattern.pattern))
            )
        elif isinstance(pattern, URLPattern):
            yield from _filled(prefix + _plain(str(pattern.pattern)), model)


def _model(path: str) -> Any:
    app, name = path.strip("/").split("/")[1:3]
    return next(model for model in admin.site._registry if model._meta.label_lower == f"{app}.{name}")


def _plain(route: str) -> str:
    """A path for each of the two routes that are regular expressions."""
    return {r"(?P<url>.*)$": "nowhere", r"^(?P<app_label>messaging|agents|reactions|embeds|admin)/$": "agents/"}.get(
        route, "agents/" if route.startswith("^(?P<app_label>") else route
    )


def _filled(path: str, model: Any) -> Iterator[str]:
    if "<" not in path:
        yield path
    elif path.startswith("/admin/r/"):
        yield "/admin/r/1/1/"
    elif path.startswith("/admin/record/"):
        # Of no record; `tests.desk.test_records` downloads one.
        yield f"/admin/record/{UUID(int=0)}/"
    else:
        for pk in model.objects.values_list("pk", flat=True):
            yield path.replace("<uuid:pk>", str(pk)).replace("<path:object_id>", str(pk))


def _expected(path: str) -> int:
    """The status of GET for a super admin."""
    *_, before, last = path.rstrip("/").split("/")
    may_add, may_delete = before in {"community", "readyreason"}, "/readyreason/" in path
    if path == "/admin/autocomplete/" or (last == "delete" and not may_delete) or (last == "add" and not may_add):
        return 403
    if last in {"nowhere", "1"} or before == "record":
        return 404
    if last in {"logout", "decide", "run", "saved"}:
        return 405
    # The path of a row redirects to its change page, the sign-in page to the index.
    return 302 if last == "login" or last.count("-") == 4 or last.isdecimal() else 200


def snapshot() -> dict[str, Any]:
    """A checksum of the rows of every table except sessions, which each request may change."""
    tables = [name for name in connection.introspection.table_names() if name != "django_session"]
    with connection.cursor() as cursor:
        sums = {}
        for table in tables:
            cursor.execute(f'SELECT count(*), md5(string_agg(r::text, chr(10) ORDER BY r::text)) FROM "{table}" r')
            sums[table] = cursor.fetchone()
    return sums


def session_of(account: Account, *, checks_csrf: bool = False) -> Client:
    client = Client(enforce_csrf_checks=checks_csrf, raise_request_exception=True)
    client.force_login(account)
    return client


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


def test_only_models_of_this_project_are_registered() -> None:
    labels = {model._meta.label for model in admin.site._registry}
    assert labels == {
        *("admin.LogEntry", "agents.Agent", "agents.AgentRequest", "agents.AgentToken", "embeds.Embed"),
        *("messaging.Account", "messaging.BulkJob", "messaging.Community", "messaging.Message", "messaging.Report"),
        *("messaging.ReadyReason", "messaging.SignIn", "messaging.Webhook", "moving.Move", "reactions.Reaction"),
    }


@pytest.mark.parametrize("who", ["anonymous", "agent", "person token", "person", "staff", "inactive super admin"])
def test_only_super_admins_can_open_or_change_anything(every_page: EveryPage, who: str) -> None:
    client, headers = Client(), {}
    match who:
        case "agent":
            headers = every_page.holder.api.credentials
        case "person token":
            headers = Api.as_person(SuperAdminFactory()).credentials
        case "person":
            client = session_of(PersonFactory())
        case "staff":
            client = session_of(PersonFactory(is_staff=True))
        case "inactive super admin":
            boss = SuperAdminFactory()
            client = session_of(boss)
            Account.objects.filter(pk=boss.pk).update(is_active=False)
    before, refused = snapshot(), {"agents_refusedcall", "agents_agenttoken"}
    for path in set(every_page.paths()) - OPEN:
        for response in (client.get(path, headers=headers), client.post(path, SENT, headers=headers)):
            assert response.status_code in {302, 403, 405}, (path, response.status_code)
            if response.status_code == 302:
                assert response.headers["Location"].startswith(("/admin/login/", "/admin/")), path
                assert response.headers["Location"].startswith("/admin/login/") or path == "/admin/logout/", path
    for path, sent in every_page.actions():
        assert client.post(path, sent, headers=headers).status_code in {302, 403}
    after = snapshot()
    assert {table for table in before if before[table] != after[table]} <= refused


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


def test_post_requires_the_csrf_token(every_page: EveryPage) -> None:
    client = session_of(SuperAdminFactory(), checks_csrf=True)
    before = snapshot()
    for path in every_page.paths():
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


def test_a_super_admin_who_waits_for_erasure_sees_nothing(client: Client) -> None:
    boss = SuperAdminFactory()
    Account.objects.filter(pk=boss.pk).update(erasure_due_at=timezone.now())
    client.force_login(boss)
    for path in ("/admin/", "/admin/messaging/account/"):
        assert client.get(path).status_code == 403
