"""Every page and bulk action of the admin, with rows of each registered model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, URLResolver

from agents.services import reject_request
from kernel.jobs.queue import enqueue
from messaging.accounts.sign_ins import log_sign_in
from messaging.models import Account, Door, Factor, WebhookTarget
from messaging.moderation.bulk_jobs import start_job
from messaging.moderation.services import hide_message
from messaging.webhooks.services import create_webhook
from moving.models import Move, MoveStatus
from tests.agents.factories import RequestFactory, TokenHolder, agent_with_token
from tests.api import Api
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.webhooks.making import GLOBAL_URL, a_webhook

ID = re.compile(r"/([0-9a-f-]{36}|\d+)/")
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
        self.boss: Account = SuperAdminFactory()
        message, boss = MessageFactory(), self.boss
        self.holder.api.post("/v1/reactions", {"messageId": str(message.pk), "emoji": "👍"})
        Api.as_person(PersonFactory()).post(f"/api/messages/{message.pk}/report", {"reason": "spam", "note": "Ads."})
        self.community = CommunityFactory(blocked_words=["spam"])
        MessageFactory(status="pending")
        RequestFactory()
        embed = an_embed()
        hide_message(message_id=MessageFactory().pk, by=boss)
        reject_request(request_id=RequestFactory().pk, by=boss, reason="Too loud.")
        start_job(kind="agents.agentrequest:reject", label="Reject", ids=[RequestFactory().pk], by=boss)
        log_sign_in(account=boss, network="192.0.2.0/24", door=Door.PAGES, first=Factor.PASSWORD)
        a_webhook(self.holder)
        create_webhook(owner=embed.owner, target_kind=WebhookTarget.EMBED, target_id=embed.pk, url=GLOBAL_URL)
        self._add_import(boss)
        enqueue("prune")

    def _add_import(self, boss: Account) -> None:
        Move.objects.create(
            community=self.community,
            started_by=boss,
            format="disqus",
            file_name="old.xml",
            digest="0" * 64,
            size=0,
            status=MoveStatus.DONE,
            options={"map": ["/=https://site.example/"]},
            counts={"new": 5, "skipped": 1},
        )

    def paths(self) -> list[str]:
        """Every path of the admin, with the id of each row of the path's model."""
        return sorted(set(_paths(admin.site.get_urls())))

    def one_path_of_each_kind(self) -> list[str]:
        """The id is that of the newest row: of the accounts, that of the caller who was created last."""
        return list({kind_of(path): path for path in self.paths()}.values())

    def actions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each bulk action on all rows of a list: (path, confirmed form)."""
        for model, rows in registered_admins():
            ids = [str(pk) for pk in model._default_manager.values_list("pk", flat=True)]
            path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
            for decision in getattr(rows, "row_actions", ()):
                yield path, SENT | {"action": decision.name, "_selected_action": ids, "confirmed": "1"}


def kind_of(path: str) -> str:
    """The path with `*` for each id."""
    return ID.sub("/*/", path)


def registered_admins() -> Iterator[tuple[type[Model], Any]]:
    """Each registered model with its admin, most of which have the attributes of the service's own base class."""
    yield from admin.site._registry.items()


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
        # There is no such record; `tests.desk.test_records` downloads one.
        yield f"/admin/record/{UUID(int=0)}/"
    else:
        for pk in model._default_manager.values_list("pk", flat=True):
            yield re.sub("<(uuid:pk|int:pk|path:object_id)>", str(pk), path)


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
