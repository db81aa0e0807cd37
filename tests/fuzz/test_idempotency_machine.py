"""Keys and bodies in any order, failures before and after the commit: one key, one write, one answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection
from django.test import override_settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from config.writes.idempotency import STORED_DAYS
from config.writes.models import RateLimitEvent, StoredResponse
from messaging.models import Message
from tests.agents.factories import agent_with_token
from tests.api import Answer
from tests.factories import PageFactory
from tests.fuzz.machines import ServiceMachine, run

ACCOUNTS, KEYS, BODIES = 2, ("a", "b", "c"), ("first", "second", "")
FAIL = """
CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'as told' USING ERRCODE = '53100'; END $$;
CREATE TRIGGER failing BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION fail();
"""
AGE = "UPDATE api_storedresponse SET created_at = created_at - make_interval(days => %s)"
TABLES = ("messaging_message", "api_ledgerentry", "api_storedresponse")
SLOTS = st.tuples(st.integers(0, ACCOUNTS - 1), st.sampled_from(KEYS))
Slot = tuple[int, str]


@dataclass(slots=True)
class Kept:
    """What the first answer to a key was; None where it was lost on its way."""

    sent: str
    answer: bytes | None


class Keys(ServiceMachine):
    def __init__(self) -> None:
        super().__init__()
        self.agents = [agent_with_token() for _ in range(ACCOUNTS)]
        self.page: Any = PageFactory()
        self.kept: dict[Slot, Kept] = {}
        self.written = 0

    def call(self, slot: Slot, content: str) -> Answer:
        account, key = slot
        body = {"pageId": self.page.pk, "content": content}
        return self.agents[account].api.post("/api/messages", body, key=key)

    @rule(slot=SLOTS, content=st.sampled_from(BODIES))
    def send(self, slot: Slot, content: str) -> None:
        answer, held = self.call(slot, content), self.kept.get(slot)
        if held is not None:
            self._is_replay(answer, held, content)
        elif content:
            assert (answer.status, answer.headers.get("Idempotent-Replayed")) == (201, None)
            self.kept[slot] = Kept(content, answer.body)
            self.written += 1
        else:
            assert (answer.status, answer.error) == (400, "empty_message")

    @rule(slot=SLOTS)
    def send_and_hear_nothing(self, slot: Slot) -> None:
        if slot not in self.kept:
            self.call(slot, "first")
            self.kept[slot] = Kept("first", None)
            self.written += 1

    @rule(slot=SLOTS, table=st.sampled_from(TABLES))
    def fail_before_the_commit(self, slot: Slot, table: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(FAIL.format(table=table))
            answer = self.call(slot, "first")
            cursor.execute(f"DROP TRIGGER failing ON {table}")
        if slot in self.kept:
            self._is_replay(answer, self.kept[slot], "first")
        else:
            assert (answer.status, answer.error) == (503, "temporarily_unavailable")

    @precondition(lambda self: self.kept)
    @rule()
    def seven_days_pass(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE api_storedresponse SET created_at = created_at - make_interval(days => %s)", [STORED_DAYS]
            )
        self.kept.clear()

    @rule(slot=SLOTS)
    def refuse_another_body(self, slot: Slot) -> None:
        if slot in self.kept:
            with override_settings(IDEMPOTENCY_MISMATCH="reject"):
                answer = self.call(slot, "third")
            assert (answer.status, answer.error) == (422, "idempotency_key_reused")

    @invariant()
    def one_write_each(self) -> None:
        assert Message.objects.count() == RateLimitEvent.objects.count() == self.written
        assert StoredResponse.objects.count() >= len(self.kept)

    def _is_replay(self, answer: Answer, held: Kept, content: str) -> None:
        assert (answer.status, answer.headers["Idempotent-Replayed"]) == (201, "true")
        assert (answer.headers.get("Idempotency-Payload-Mismatch") == "true") == (content != held.sent)
        assert held.answer in (None, answer.body)
        assert answer.json["content"] == held.sent
        held.answer = answer.body


@pytest.mark.django_db
def test_one_key_is_one_write_whatever_happens() -> None:
    run(Keys, runs=12, steps=20)
