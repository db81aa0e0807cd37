"""`forget`: a stored response ends before its seven days, for keys that a gateway derives."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from kernel.writes.idempotency import IdempotencyKey, forget
from kernel.writes.models import StoredResponse
from tests.agents.factories import TokenHolder, agent_with_token
from tests.factories import PageFactory

pytestmark = pytest.mark.django_db
PATH = "/api/messages"


def post(agent: TokenHolder, page_id: str, *, key: str = "a key") -> bool:
    """Whether the response is a replay."""
    answer = agent.api.post(PATH, {"pageId": page_id, "content": "Hi"}, key=key)
    assert answer.status == 201
    return "Idempotent-Replayed" in answer.headers


def forget_key(agent: TokenHolder, *, key: str = "a key", method: str = "POST") -> None:
    forget(IdempotencyKey.named(method, PATH, key), account_id=agent.account.pk, seconds=600)


def make_old() -> None:
    StoredResponse.objects.update(created_at=F("created_at") - timedelta(seconds=601))


@pytest.fixture
def agent() -> TokenHolder:
    return agent_with_token()


@pytest.fixture
def page_id() -> str:
    return str(PageFactory().pk)


def test_only_an_old_response_of_the_key_is_forgotten(agent: TokenHolder, page_id: str) -> None:
    another = agent_with_token()
    for holder in (agent, another):
        post(holder, page_id)
    forget_key(agent)
    assert post(agent, page_id), "a young one"
    make_old()
    forget_key(agent, key="another key")
    forget_key(agent, method="PUT")
    assert post(agent, page_id)
    forget_key(agent)
    assert not post(agent, page_id)
    assert post(another, page_id)


def test_a_response_under_the_previous_root_key_is_forgotten(agent: TokenHolder, page_id: str, settings: Any) -> None:
    post(agent, page_id)
    make_old()
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "n" * 40, settings.ROOT_KEY
    forget_key(agent)
    assert not StoredResponse.objects.exists()
