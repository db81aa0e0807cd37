"""`last_used_at`: collected by a process, written in batches."""

from __future__ import annotations

from datetime import timedelta
from time import monotonic, sleep
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from agents import authentication
from agents.models import AgentToken
from tests.agents.factories import agent_with_token
from tests.agents.test_credential import PUBLIC_READ, failing
from tests.waiting import PATIENCE_SECONDS


@pytest.fixture
def batching(settings: Any) -> None:
    settings.TOKEN_USE_SECONDS = 0.1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("batching")
def test_notes_are_written_after_the_interval() -> None:
    holders = [agent_with_token() for _ in range(3)]
    for holder in holders:
        assert holder.api.get(PUBLIC_READ).status == 200
    wait_until_written(tokens=3)
    assert holders[0].api.get(PUBLIC_READ).status == 200
    used = AgentToken.objects.values_list("last_used_at", flat=True)
    assert all(timezone.now() - at < timedelta(seconds=PATIENCE_SECONDS) for at in used if at)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("batching")
def test_notes_after_a_flush_are_written_by_the_next() -> None:
    for count in (1, 2):
        assert agent_with_token().api.get(PUBLIC_READ).status == 200
        wait_until_written(tokens=count)


@pytest.mark.django_db
def test_flush_runs_one_statement(django_assert_num_queries: Any) -> None:
    holders = [agent_with_token() for _ in range(3)]
    before = AgentToken.objects.values_list("digest", flat=True)
    authentication._noted.update({token.pk: bytes(token.digest) for token in AgentToken.objects.all()})
    with django_assert_num_queries(1):
        authentication.flush()
    assert AgentToken.objects.filter(last_used_at=None).count() == 0
    assert set(map(bytes, before)) == {bytes(token.digest) for token in AgentToken.objects.all()}
    assert len(holders) == AgentToken.objects.count()


@pytest.mark.django_db
def test_last_used_at_of_the_last_minute_is_not_replaced() -> None:
    agent_with_token()
    token = AgentToken.objects.get()
    AgentToken.objects.update(last_used_at=timezone.now() - timedelta(seconds=30))
    before = AgentToken.objects.get().last_used_at
    authentication.note(token.pk, bytes(token.digest))
    assert AgentToken.objects.get().last_used_at == before


@pytest.mark.django_db
def test_notes_are_dropped_after_a_database_error(caplog: pytest.LogCaptureFixture) -> None:
    agent_with_token()
    token = AgentToken.objects.get()
    with connection.execute_wrapper(failing("SET last_used_at")):
        authentication.note(token.pk, bytes(token.digest))
    assert "was not written" in caplog.text
    assert authentication._noted == {}


def wait_until_written(*, tokens: int) -> None:
    deadline = monotonic() + PATIENCE_SECONDS
    while AgentToken.objects.exclude(last_used_at=None).count() < tokens:
        assert monotonic() < deadline, "the uses were not written"
        sleep(0.02)
