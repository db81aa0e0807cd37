"""Keys and bodies in any order, with failures before and after the commit: one key, one write, one response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection
from django.test import override_settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from kernel.writes.idempotency import STORED_DAYS
from kernel.writes.models import RateLimitEvent, StoredResponse
from messaging.models import Message
from tests.agents.factories import agent_with_token
from tests.api import Answer
from tests.factories import PageFactory
from tests.fuzz.machines import ServiceMachine, run

pytestmark = pytest.mark.slow

ACCOUNTS, KEYS, BODIES = 2, ("a", "b", "c"), ("first", "second", "")
FAIL = """
CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '53100'; END $$;
CREATE TRIGGER failing BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION fail();
"""
AGE = "UPDATE api_storedresponse SET created_at = created_at - make_interval(days => %s)"
TABLES = ("messaging_message", "api_ledgerentry", "api_storedresponse")
SLOTS = st.tuples(st.integers(0, ACCOUNTS - 1), st.sampled_from(KEYS))
Slot = tuple[int, str]


@dataclass(slots=True)
class Stored:
    """The first body and response of a key; `answer` is None if the response was lost."""

    sent: str
    answer: bytes | None


class Keys(ServiceMachine):
    def __init__(self) -> None:
        super().__init__()
        self.agents = [agent_with_token() for _ in range(ACCOUNTS)]
        self.page: Any = PageFactory()
        self.stored: dict[Slot, Stored] = {}
        self.written = 0

    def call(self, slot: Slot, content: str) -> Answer:
        account, key = slot
        body = {"pageId": self.page.pk, "content": content}
        return self.agents[account].api.post("/api/messages", body, key=key)

    @rule(slot=SLOTS, content=st.sampled_from(BODIES))
    def send(self, slot: Slot, content: str) -> None:
        answer, expected = self.call(slot, content), self.stored.get(slot)
        if expected is not None:
            self._is_replay(answer, expected, content)
        elif content:
            assert (answer.status, answer.headers.get("Idempotent-Replayed")) == (201, None)
            self.stored[slot] = Stored(content, answer.body)
            self.written += 1
        else:
            assert (answer.status, answer.error) == (400, "empty_message")

    @rule(slot=SLOTS)
    def send_and_lose_the_response(self, slot: Slot) -> None:
        if slot not in self.stored:
            self.call(slot, "first")
            self.stored[slot] = Stored("first", None)
            self.written += 1

    @rule(slot=SLOTS, table=st.sampled_from(TABLES))
    def fail_before_the_commit(self, slot: Slot, table: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(FAIL.format(table=table))
            answer = self.call(slot, "first")
            cursor.execute(f"DROP TRIGGER failing ON {table}")
        if slot in self.stored:
            self._is_replay(answer, self.stored[slot], "first")
        else:
            assert (answer.status, answer.error) == (503, "temporarily_unavailable")

    @precondition(lambda self: self.stored)
    @rule()
    def seven_days_pass(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE api_storedresponse SET created_at = created_at - make_interval(days => %s)", [STORED_DAYS]
            )
        self.stored.clear()

    @rule(slot=SLOTS)
    def refuse_another_body(self, slot: Slot) -> None:
        if slot in self.stored:
            with override_settings(IDEMPOTENCY_MISMATCH="reject"):
                answer = self.call(slot, "third")
            assert (answer.status, answer.error) == (422, "idempotency_key_reused")

    @invariant()
    def one_write_each(self) -> None:
        assert Message.objects.count() == RateLimitEvent.objects.count() == self.written
        assert StoredResponse.objects.count() >= len(self.stored)

    def _is_replay(self, answer: Answer, expected: Stored, content: str) -> None:
        assert (answer.status, answer.headers["Idempotent-Replayed"]) == (201, "true")
        assert (answer.headers.get("Idempotency-Payload-Mismatch") == "true") == (content != expected.sent)
        assert expected.answer in (None, answer.body)
        assert answer.json["content"] == expected.sent
        expected.answer = answer.body


@pytest.mark.django_db
def test_one_key_is_one_write() -> None:
    run(Keys, runs=12, steps=20)
