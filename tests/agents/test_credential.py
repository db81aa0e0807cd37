"""The agent token as a credential: what is accepted, what is a 401, and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from threading import Event, Thread
from time import monotonic
from typing import Any

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.utils import timezone

from agents import tokens
from agents.models import AgentToken
from agents.services import freeze_agent, narrow_agent, unfreeze_agent
from messaging.models import Account
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, PageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
SELF = "/v1/agent/self"
PUBLIC_READ = "/v1/smart-tags"


@pytest.fixture
def held() -> TokenHolder:
    return agent_with_token()


@pytest.fixture
def used(held: TokenHolder) -> TokenHolder:
    """Used within this minute, so that no note of use is due."""
    AgentToken.objects.update(last_used_at=timezone.now())
    return held


def test_a_wrong_checksum_costs_no_query(held: TokenHolder, django_assert_num_queries: Any) -> None:
    """Rule 5: an invalid token answers 401."""
    last = "0" if held.value[-1] != "0" else "1"
    for wrong in (held.value[:-1] + last, held.value[:-1], held.value + "0", "cag_", "cag_" + "0" * 46):
        with django_assert_num_queries(0):
            answer = Api.as_agent(wrong).get(PUBLIC_READ)
        assert (answer.status, answer.error) == (401, "invalid_token")


def test_an_unknown_token(held: TokenHolder, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        answer = Api.as_agent(tokens.mint()).get(PUBLIC_READ)
    assert (answer.status, answer.error) == (401, "invalid_token")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_valid_token_costs_one_query(used: TokenHolder, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        assert used.api.get(PUBLIC_READ).status == 200


def test_user_id_is_ignored(held: TokenHolder) -> None:
    """Credentials: no X-User-Id header needed; one that is sent changes nothing."""
    assert held.api.get(SELF, headers={"X-User-Id": str(held.request.requester.pk)}).status == 200


@pytest.mark.parametrize("form", ["bearer {}", "BEARER {}", "Bearer   {}  "])
def test_the_scheme_knows_no_case(held: TokenHolder, form: str) -> None:
    assert Api({"Authorization": form.format(held.value)}).get(SELF).status == 200


@pytest.mark.parametrize("form", ["{}", "Token {}", "Basic {}", "Bearer", "Bearer {0} {0}", "Bearer x{}", "Bearer é{}"])
def test_other_headers_are_refused(held: TokenHolder, form: str) -> None:
    answer = Api({"Authorization": form.format(held.value)}).get(PUBLIC_READ)
    assert (answer.status, answer.error) == (401, "invalid_token")


def test_an_expired_token(held: TokenHolder) -> None:
    """Agent token: active → expired when time reaches expiresAt."""
    AgentToken.objects.update(expires_at=timezone.now() + timedelta(seconds=60))
    assert held.api.get(SELF).status == 200
    AgentToken.objects.update(expires_at=timezone.now())
    for path in (SELF, PUBLIC_READ):
        answer = held.api.get(path)
        assert (answer.status, answer.error) == (401, "token_expired")


def test_a_frozen_agent(held: TokenHolder) -> None:
    """Freezing stops every token at once, unfreezing lets them work again."""
    admin = SuperAdminFactory()
    freeze_agent(agent=held.agent, by=admin, reason="Looks odd.")
    answer = held.api.get(PUBLIC_READ)
    assert (answer.status, answer.error) == (401, "token_revoked")
    unfreeze_agent(agent=held.agent, by=admin)
    assert held.api.get(SELF).status == 200


def test_an_inactive_account(held: TokenHolder) -> None:
    Account.objects.filter(pk=held.agent.pk).update(is_active=False)
    assert held.api.get(PUBLIC_READ).error == "token_revoked"


def test_rotating_the_pepper(held: TokenHolder, settings: Any) -> None:
    """The current and the previous pepper are accepted, none before; a token that is used moves to the current one."""
    idle = agent_with_token()
    settings.TOKEN_PEPPER_PREVIOUS, settings.TOKEN_PEPPER = settings.TOKEN_PEPPER, "a new pepper of 32 characters, ok"
    assert held.api.get(SELF).status == 200
    settings.TOKEN_PEPPER_PREVIOUS = ""
    assert held.api.get(SELF).status == 200
    assert idle.api.get(SELF).error == "invalid_token"


def test_narrowing_narrows_at_once(held: TokenHolder) -> None:
    """Rule 3: a missing scope answers 403 agent_scope_missing:<scope>."""
    sent = {"pageId": PageFactory().pk, "content": "Hello."}
    assert held.api.post("/api/messages", sent).status == 201
    narrow_agent(agent=held.agent, by=SuperAdminFactory(), scopes=["react"])
    answer = held.api.post("/api/messages", sent)
    assert (answer.status, answer.error) == (403, "agent_scope_missing:post")


def test_limiting_to_communities_limits_at_once(held: TokenHolder) -> None:
    """Rule 4: communityId is required then, and must be one of them."""
    mine, other = CommunityFactory.create_batch(2)
    narrow_agent(agent=held.agent, by=SuperAdminFactory(), community_ids=[mine.pk])
    sent = {"pageId": PageFactory().pk, "content": "Hello."}
    for community_id in (None, str(other.pk)):
        answer = held.api.post("/api/messages", sent | {"communityId": community_id})
        assert (answer.status, answer.error) == (403, "agent_community_not_allowed")
    assert held.api.post("/api/messages", sent | {"communityId": str(mine.pk)}).status == 201


def test_use_is_noted_once_a_minute(held: TokenHolder, django_assert_num_queries: Any) -> None:
    """lastUsedAt is written at most once a minute."""
    held.api.get(PUBLIC_READ)
    first = AgentToken.objects.get().last_used_at
    assert first is not None
    assert timezone.now() - first < timedelta(seconds=5)
    with django_assert_num_queries(1):
        held.api.get(PUBLIC_READ)
    AgentToken.objects.update(last_used_at=timezone.now() - timedelta(seconds=61))
    held.api.get(PUBLIC_READ)
    assert timezone.now() - (AgentToken.objects.get().last_used_at or first) < timedelta(seconds=5)


@pytest.mark.django_db(transaction=True)
def test_noting_use_waits_for_nobody() -> None:
    held, locked, done = agent_with_token(), Event(), Event()

    def hold() -> None:
        with transaction.atomic():
            AgentToken.objects.select_for_update().get()
            locked.set()
            done.wait(10)
        connections.close_all()

    holder = Thread(target=hold)
    holder.start()
    try:
        assert locked.wait(5)
        start = monotonic()
        assert held.api.get(PUBLIC_READ).status == 200
        assert monotonic() - start < 2, "waited for the lock (lock_timeout is 2 s)"
        assert AgentToken.objects.get().last_used_at is None
    finally:
        done.set()
        holder.join()


def failing(part: str) -> Callable[..., Any]:
    def wrapper(execute: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
        if part in sql:
            raise OperationalError("the connection is lost")
        return execute(sql, params, many, context)

    return wrapper


def test_a_failed_note_of_use_fails_no_call(held: TokenHolder) -> None:
    with connection.execute_wrapper(failing("SET last_used_at")):
        assert held.api.get(PUBLIC_READ).status == 200


def test_without_a_database_it_is_a_503(held: TokenHolder) -> None:
    """Every error is JSON, this layer's too."""
    with connection.execute_wrapper(failing("agents_agenttoken")):
        answer = held.api.get(PUBLIC_READ)
    assert (answer.status, answer.error) == (503, "temporarily_unavailable")
    assert answer.headers["Retry-After"] == "2"


def test_refused_calls_are_bounded(used: TokenHolder, settings: Any) -> None:
    """Agents' refused calls: a soft throttle per token, kept before the view as well as in it."""
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"agent_refused": (3, 3600)}
    refused = [used.api.get("/v1/agent-tokens") for _ in range(2)] + [used.api.post("/api/messages", {})]
    assert [answer.status for answer in refused] == [403, 403, 400]
    for answer in (used.api.get("/v1/agent-tokens"), used.api.post("/api/messages", {}), used.api.get(SELF)):
        assert (answer.status, answer.error) == (429, "rate_limited")
        assert int(answer.headers["Retry-After"]) > 0
    assert agent_with_token().api.get(SELF).status == 200
