"""Every error status that the OpenAPI document lists for an operation is provoked once."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from django.test import RequestFactory, override_settings

from config.throttles import SOFT_THROTTLES
from kernel.changes.models import ChangeLog
from kernel.writes.idempotency import IdempotencyKey, IdempotentRequest
from tests.api import Answer, Api
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory
from tests.openapi import document
from tests.security.world import COLUMNS, ROWS, Call, World

MISSING = "0199f000-0000-7000-8000-000000000000"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
# Columns whose calls belong to the same account each time.
CALLERS = ("person", "owner", "super", "agent", "nobody")
OPERATIONS = {
    operation["operationId"]: operation for methods in document()["paths"].values() for operation in methods.values()
}
# 503: tests/config_api/test_error_responses.py. 304: the tests of reads.
ELSEWHERE = {"503", "304"}


@dataclass(frozen=True, slots=True)
class Case:
    """One successful call of an operation, and the column of a caller with the right to make it."""

    world: World
    call: Call
    column: str

    @property
    def api(self) -> Api:
        return self.world.caller(self.column, self.call.scope)

    def send(self, api: Api | None = None, **changes: Any) -> Answer:
        sent = {"method": self.call.method, "path": self.call.path} | changes
        if self.call.headers:
            sent["headers"] = self.call.headers | changes.get("headers", {})
        if self.call.body is not None and "raw" not in changes:
            sent.setdefault("body", self.call.body)
        return (api or self.api).send(**sent)


def bad_request(case: Case) -> Answer:
    if case.call.method != "GET":
        return case.send(raw=b"{")
    return case.send(path=f"{with_query(case.call.path)}limit=x&from=x&cursor=&lang=x&pageId=&pageId=&embedId=x")


def with_query(path: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}"


def not_authenticated(case: Case) -> Answer:
    return case.send(Api.as_agent("cag_nonsense"))


def forbidden(case: Case) -> Answer:
    """An agent on the sign-in paths, a paused embed for public reads; elsewhere a person with another X-User-Id."""
    if case.call.path.startswith(("/api/auth/", "/oauth/")):
        return case.send(case.world.agent.api)
    owner = Api.as_person(case.world.owner)
    if case.column == "nobody" and case.call.method == "GET" and "/embeds/" not in case.call.path:
        return case.send(path=f"{with_query(case.call.path)}embedId={an_embed(status='paused').pk}")
    if case.call.path == "/v1/presence/counts":
        return case.send(body=case.call.body | {"embedId": str(an_embed(status="paused").pk)})
    return case.send(Api(owner.credentials | {"X-User-Id": MISSING}))


def not_found(case: Case) -> Answer:
    """The same call with an id that does not exist, and a feed or agent with a name that none has."""
    if case.call.path.startswith("/feeds/"):
        return case.send(path=re.sub(r"/[^/]+\.", "/none.", case.call.path))
    if case.call.path in {"/oauth/register", "/oauth/revoke"}:
        with override_settings(OAUTH=False):
            return case.send()
    if case.call.path.startswith("/v1/agents/"):
        return case.send(path="/v1/agents/none")
    if case.call.path == "/v1/presence/counts":
        return case.send(body=case.call.body | {"embedId": MISSING})
    if case.call.path == "/v1/agent-tokens/requests":
        return case.send(body={"agentId": MISSING, "scopes": ["post"], "purpose": case.call.body["purpose"]})
    if UUID.search(case.call.path):
        return case.send(path=UUID.sub(MISSING, case.call.path))
    if case.call.method == "GET":
        return case.send(path=f"{with_query(case.call.path)}embedId={MISSING}")
    missing = {name: MISSING for name, value in case.call.body.items() if UUID.fullmatch(str(value))}
    return case.send(body=case.call.body | (missing or {"communityId": MISSING}))


def conflict(case: Case) -> Answer:
    """Another session holds the lock of the key. `register`, which takes no key, gets a taken handle."""
    if case.call.path == "/api/auth/register":
        return case.send(body=case.call.body | {"handle": case.world.owner.handle})
    request = RequestFactory().generic(case.call.method, case.call.path, headers={"Idempotency-Key": "in progress"})
    account_id = case.world.account_id(case.column)
    key = IdempotencyKey.of(request)
    assert key is not None
    keyed = IdempotentRequest(account_id, key, b"")
    with psycopg.connect(**connection.get_connection_params()) as elsewhere:
        elsewhere.execute("SELECT pg_advisory_lock(%s)", [keyed.values["key_lock"]])
        return case.send(key="in progress")


def gone(case: Case) -> Answer:
    """A cursor of an earlier generation of the change log."""
    path, query = case.call.path.partition("?")[::2]
    cursor = None if case.call.body else case.send(path=f"{path}?{query}&tail=true").json["nextCursor"]
    ChangeLog.objects.update(generation=1)
    return case.send() if cursor is None else case.send(path=f"{path}?{query}&cursor={cursor}")


def length_required(case: Case) -> Answer:
    return case.send(headers={"Transfer-Encoding": "chunked"}, raw=b"", content_type="")


def too_large(case: Case) -> Answer:
    return case.send(raw=b'{"a": "' + b"x" * 1_048_576 + b'"}')


def unsupported(case: Case) -> Answer:
    return case.send(raw=b"a,b", content_type="text/csv")


def unprocessable(case: Case) -> Answer:
    """Another body for a used key; of a check, which stores no response, a blocked word."""
    if case.call.path == "/api/messages/check":
        community = CommunityFactory(blocked_words=["gorse"])
        return case.send(body=case.call.body | {"content": "gorse", "communityId": str(community.pk)})
    assert case.send(key="used").status < 300
    with override_settings(IDEMPOTENCY_MISMATCH="reject"):
        return case.send(key="used", body={"another": "body"})


def too_many(case: Case) -> Answer:
    exhausted = dict.fromkeys(SOFT_THROTTLES, (0, 60))
    with override_settings(SOFT_THROTTLES=exhausted):
        return case.send(case.world.agent.api)


REFUSALS: dict[str, Callable[[Case], Answer]] = {
    "307": Case.send,
    "400": bad_request,
    "401": not_authenticated,
    "403": forbidden,
    "404": not_found,
    "409": conflict,
    "410": gone,
    "411": length_required,
    "413": too_large,
    "415": unsupported,
    "422": unprocessable,
    "429": too_many,
}


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_documented_error_status_occurs(name: str, world: World, settings: Any) -> None:
    settings.WEBHOOKS, settings.DOMAIN_CHECKS, settings.OAUTH = True, True, True
    promised = sorted(status for status in OPERATIONS[name]["responses"] if status >= "300" and status not in ELSEWHERE)
    assert len(promised) >= 3
    column = next(column for column in CALLERS if ROWS[name][COLUMNS.index(column)] == "ok")
    case = Case(world, world.call(name), column)
    assert [_status(case, status) for status in promised] == [int(status) for status in promised]


def _status(case: Case, promised: str) -> int:
    """The status of the response; what the requests changed is undone."""
    with transaction.atomic():
        status = REFUSALS[promised](case).status
        transaction.set_rollback(True)
    return status
