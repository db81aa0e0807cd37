"""Authentication by agent tokens: valid and invalid tokens, and the number of queries."""

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
from agents.services import freeze_agent, narrow_agent, revoke_token, unfreeze_agent
from messaging.models import Account, PostsChoice
from messaging.privacy.erasing import cancel_erasure, request_erasure
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Api
from tests.factories import CommunityFactory, PageFactory, SuperAdminFactory
from tests.waiting import LOCK_TIMEOUT_SECONDS, PATIENCE_SECONDS

pytestmark = pytest.mark.django_db
SELF = "/v1/agent/self"
PUBLIC_READ = "/v1/smart-tags"


@pytest.fixture
def holder() -> TokenHolder:
    return agent_with_token()


@pytest.fixture
def used(holder: TokenHolder) -> TokenHolder:
    """Used within the last minute, so that `last_used_at` is not written."""
    AgentToken.objects.update(last_used_at=timezone.now())
    return holder


def test_wrong_checksum_is_401_without_a_query(holder: TokenHolder, django_assert_num_queries: Any) -> None:
    """Rule 5: an invalid token is 401."""
    last = "0" if holder.value[-1] != "0" else "1"
    for wrong in (holder.value[:-1] + last, holder.value[:-1], holder.value + "0", "cag_", "cag_" + "0" * 46):
        with django_assert_num_queries(0):
            response = Api.as_agent(wrong).get(PUBLIC_READ)
        assert (response.status, response.error) == (401, "invalid_token")


def test_unknown_token_is_401_with_one_query(holder: TokenHolder, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        response = Api.as_agent(tokens.mint()).get(PUBLIC_READ)
    assert (response.status, response.error) == (401, "invalid_token")
    assert response.headers["WWW-Authenticate"].startswith('Bearer realm="community-messaging"')


def test_a_valid_token_costs_one_query(used: TokenHolder, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        assert used.api.get(PUBLIC_READ).status == 200


def test_x_user_id_header_is_ignored(holder: TokenHolder) -> None:
    """Credentials: an agent token needs no X-User-Id header and ignores it."""
    assert holder.api.get(SELF, headers={"X-User-Id": str(holder.request.requester.pk)}).status == 200


def test_scheme_is_case_insensitive(holder: TokenHolder) -> None:
    for form in ["bearer {}", "BEARER {}", "Bearer   {}  "]:
        assert Api({"Authorization": form.format(holder.value)}).get(SELF).status == 200, form


def test_malformed_authorization_header_is_401(holder: TokenHolder) -> None:
    for form in ["{}", "Token {}", "Basic {}", "Bearer", "Bearer {0} {0}", "Bearer x{}", "Bearer é{}"]:
        response = Api({"Authorization": form.format(holder.value)}).get(PUBLIC_READ)
        assert (response.status, response.error) == (401, "invalid_token"), form


def test_expired_token_is_401(holder: TokenHolder) -> None:
    """Agent token: active → expired when time reaches expiresAt."""
    AgentToken.objects.update(expires_at=timezone.now() + timedelta(seconds=60))
    assert holder.api.get(SELF).status == 200
    AgentToken.objects.update(expires_at=timezone.now())
    for path in (SELF, PUBLIC_READ):
        response = holder.api.get(path)
        assert (response.status, response.error) == (401, "token_expired")


def test_tokens_of_a_frozen_agent_are_401(holder: TokenHolder) -> None:
    """Freezing disables every token at once; unfreezing enables them again."""
    admin = SuperAdminFactory()
    freeze_agent(agent=holder.agent, by=admin, reason="Looks odd.")
    response = holder.api.get(PUBLIC_READ)
    assert (response.status, response.error) == (401, "agent_suspended")
    unfreeze_agent(agent=holder.agent, by=admin)
    assert holder.api.get(SELF).status == 200


def test_tokens_of_an_inactive_account_are_401(holder: TokenHolder) -> None:
    Account.objects.filter(pk=holder.agent.pk).update(is_active=False)
    assert holder.api.get(PUBLIC_READ).error == "agent_suspended"


def test_a_token_whose_operator_waits_for_erasure_says_so(holder: TokenHolder) -> None:
    operator = holder.request.requester
    request_erasure(person=operator, posts=PostsChoice.ANONYMOUS, by=operator)
    for path in (SELF, PUBLIC_READ):
        refused = holder.api.get(path)
        assert (refused.status, refused.error) == (401, "agent_suspended")
        assert "operator has asked to be erased" in refused.json["message"]
        assert "erased" in refused.headers["WWW-Authenticate"]
    cancel_erasure(person=operator, by=operator)
    assert holder.api.get(SELF).status == 200


def test_a_token_that_is_revoked_or_frozen_besides_does_not_wait_for_the_operator(holder: TokenHolder) -> None:
    operator, admin = holder.request.requester, SuperAdminFactory()
    freeze_agent(agent=holder.agent, by=admin, reason="Looks odd.")
    request_erasure(person=operator, posts=PostsChoice.ANONYMOUS, by=operator)
    suspended = holder.api.get(SELF)
    assert (suspended.error, "operator has asked" in suspended.json["message"]) == ("agent_suspended", False)
    revoke_token(token_id=holder.token.pk, by=admin)
    assert holder.api.get(SELF).error == "token_revoked"


def test_pepper_rotation_accepts_the_previous_pepper(holder: TokenHolder, settings: Any) -> None:
    """Only the current and the previous pepper are accepted; a used token gets a digest under the current one."""
    idle = agent_with_token()
    settings.TOKEN_PEPPER_PREVIOUS, settings.TOKEN_PEPPER = settings.TOKEN_PEPPER, "a new pepper of 32 characters, ok"
    assert holder.api.get(SELF).status == 200
    settings.TOKEN_PEPPER_PREVIOUS = ""
    assert holder.api.get(SELF).status == 200
    assert idle.api.get(SELF).error == "invalid_token"


def test_removed_scope_is_403_at_once(holder: TokenHolder) -> None:
    """Rule 3: a missing scope is 403 agent_scope_missing:<scope>."""
    sent = {"pageId": PageFactory().pk, "content": "Hello."}
    assert holder.api.post("/api/messages", sent).status == 201
    narrow_agent(agent=holder.agent, by=SuperAdminFactory(), scopes=["react"])
    response = holder.api.post("/api/messages", sent)
    assert (response.status, response.error) == (403, "agent_scope_missing:post")


def test_removed_community_is_403_at_once(holder: TokenHolder) -> None:
    """Rule 4: communityId is required and must be one of the agent's communities."""
    mine, other = CommunityFactory.create_batch(2)
    narrow_agent(agent=holder.agent, by=SuperAdminFactory(), community_ids=[mine.pk])
    sent = {"pageId": PageFactory().pk, "content": "Hello."}
    for community_id in (None, str(other.pk)):
        response = holder.api.post("/api/messages", sent | {"communityId": community_id})
        assert (response.status, response.error) == (403, "agent_community_not_allowed")
    assert holder.api.post("/api/messages", sent | {"communityId": str(mine.pk)}).status == 201


def test_last_used_at_is_written_at_most_once_a_minute(holder: TokenHolder, django_assert_num_queries: Any) -> None:
    holder.api.get(PUBLIC_READ)
    first = AgentToken.objects.get().last_used_at
    assert first is not None
    assert timezone.now() - first < timedelta(seconds=60)
    with django_assert_num_queries(1):
        holder.api.get(PUBLIC_READ)
    AgentToken.objects.update(last_used_at=timezone.now() - timedelta(seconds=61))
    holder.api.get(PUBLIC_READ)
    assert timezone.now() - (AgentToken.objects.get().last_used_at or first) < timedelta(seconds=60)


@pytest.mark.django_db(transaction=True)
def test_writing_last_used_at_does_not_wait_for_a_lock() -> None:
    token_holder, locked, done = agent_with_token(), Event(), Event()

    def lock_token() -> None:
        with transaction.atomic():
            AgentToken.objects.select_for_update().get()
            locked.set()
            done.wait(PATIENCE_SECONDS)
        connections.close_all()

    locker = Thread(target=lock_token)
    locker.start()
    try:
        assert locked.wait(PATIENCE_SECONDS)
        start = monotonic()
        assert token_holder.api.get(PUBLIC_READ).status == 200
        assert monotonic() - start < LOCK_TIMEOUT_SECONDS, "waited for the lock"
        assert AgentToken.objects.get().last_used_at is None
    finally:
        done.set()
        locker.join(PATIENCE_SECONDS)


def failing(part: str) -> Callable[..., Any]:
    def wrapper(execute: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
        if part in sql:
            raise OperationalError("the connection is lost")
        return execute(sql, params, many, context)

    return wrapper


def test_database_error_of_last_used_at_does_not_fail_the_request(holder: TokenHolder) -> None:
    with connection.execute_wrapper(failing("SET last_used_at")):
        assert holder.api.get(PUBLIC_READ).status == 200


def test_database_error_is_503(holder: TokenHolder) -> None:
    """The middleware's errors are JSON too."""
    with connection.execute_wrapper(failing("agents_agenttoken")):
        response = holder.api.get(PUBLIC_READ)
    assert (response.status, response.error) == (503, "temporarily_unavailable")
    assert response.headers["Retry-After"] == "2"


def test_refused_calls_of_a_token_are_throttled(used: TokenHolder, settings: Any) -> None:
    """A soft throttle per token counts refusals by middlewares and by views."""
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"agent_refused": (3, 3600)}
    refused = [used.api.get("/v1/agent-tokens") for _ in range(2)] + [used.api.post("/api/messages", {})]
    assert [response.status for response in refused] == [403, 403, 400]
    for response in (used.api.get("/v1/agent-tokens"), used.api.post("/api/messages", {}), used.api.get(SELF)):
        assert (response.status, response.error) == (429, "rate_limited")
        assert int(response.headers["Retry-After"]) > 0
    assert agent_with_token().api.get(SELF).status == 200
