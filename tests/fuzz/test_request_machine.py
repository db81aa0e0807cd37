"""Agent requests and tokens in any order of asking, deciding, making, revoking and ending."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, invariant, multiple, rule

from agents.models import AgentToken
from tests.api import Answer, Api
from tests.factories import PersonFactory, SuperAdminFactory
from tests.fuzz.machines import ServiceMachine, run

PEOPLE = 3
HANDLES = ("one_agent", "two_agents", "three_agents", "four_agents", "five_agents")
PENDING_MAX, ACTIVE_MAX = 3, 5
REQUESTS = "/v1/agent-tokens/requests"
DECISIONS = (("approve", "approved"), ("reject", "rejected"))
PERSON = st.integers(0, PEOPLE - 1)


@dataclass(slots=True)
class Asked:
    """One request as it should stand."""

    id: str
    requester: int
    handle: str
    status: str = "pending"


@dataclass(slots=True)
class Held:
    """One token as it should stand."""

    id: str
    value: str
    request: Asked
    status: str = "active"


class Requests(ServiceMachine):
    asked = Bundle("asked")
    held = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        self.people = [Api.as_person(PersonFactory()) for _ in range(PEOPLE)]
        self.admin = Api.as_person(SuperAdminFactory())
        self.requests: list[Asked] = []
        self.tokens: list[Held] = []

    @rule(target=asked, person=PERSON, handle=st.sampled_from(HANDLES))
    def ask(self, person: int, handle: str) -> Any:
        answer = self.people[person].post(
            REQUESTS,
            {"agentName": "Agent", "agentHandle": handle, "purpose": "Takes part in this test.", "scopes": ["post"]},
        )
        pending = sum(request.requester == person and request.status == "pending" for request in self.requests)
        taken = any(request.handle == handle and request.status in ("pending", "approved") for request in self.requests)
        if pending >= PENDING_MAX:
            assert (answer.status, answer.error) == (429, "too_many_pending_requests")
        elif taken:
            assert (answer.status, answer.error) == (409, "handle_taken")
        else:
            assert (answer.status, answer.json["status"]) == (201, "pending")
            self.requests.append(Asked(answer.json["id"], person, handle))
            return self.requests[-1]
        return multiple()

    @rule(request=asked, decision=st.sampled_from(["approve", "reject"]))
    def decide(self, request: Asked, decision: str) -> None:
        self._moves(
            self.admin.post(f"{REQUESTS}/{request.id}/{decision}", {}), request, f"{decision}ed".replace("ee", "e")
        )

    @rule(request=asked, person=PERSON)
    def cancel(self, request: Asked, person: int) -> None:
        answer = self.people[person].post(f"{REQUESTS}/{request.id}/cancel")
        if person != request.requester:
            assert (answer.status, answer.error) == (404, "request_not_found")
        else:
            self._moves(answer, request, "cancelled")

    @rule(request=asked, person=PERSON)
    def decide_without_the_right(self, request: Asked, person: int) -> None:
        answer = self.people[person].post(f"{REQUESTS}/{request.id}/approve", {})
        assert (answer.status, answer.error) == (403, "super_admin_required")

    @rule(target=held, request=asked, person=PERSON)
    def make_token(self, request: Asked, person: int) -> Any:
        answer = self.people[person].post(f"{REQUESTS}/{request.id}/token", {"expiresInDays": 1})
        active = sum(token.request is request and token.status == "active" for token in self.tokens)
        if person != request.requester:
            assert (answer.status, answer.error) == (404, "request_not_found")
        elif request.status != "approved":
            assert (answer.status, answer.error) == (409, "request_not_approved")
        elif active >= ACTIVE_MAX:
            assert (answer.status, answer.error) == (409, "too_many_active_tokens")
        else:
            assert answer.status == 201
            self.tokens.append(Held(answer.json["tokenId"], answer.json["token"], request))
            return self.tokens[-1]
        return multiple()

    @rule(token=held, caller=st.one_of(PERSON, st.none()))
    def revoke(self, token: Held, caller: int | None) -> None:
        api = self.admin if caller is None else self.people[caller]
        answer = api.post(f"/v1/agent-tokens/{token.id}/revoke", {})
        if caller not in (None, token.request.requester):
            assert (answer.status, answer.error) == (404, "token_not_found")
            return
        assert (answer.status, answer.json["revoked"]) == (200, token.status != "revoked")
        assert ("alreadyRevokedAt" in answer.json) == (token.status == "revoked")
        token.status = "revoked"

    @rule(token=held)
    def run_out(self, token: Held) -> None:
        AgentToken.objects.filter(pk=token.id).update(expires_at=timezone.now() - timedelta(seconds=1))
        token.status = "expired" if token.status == "active" else token.status

    @rule(token=held)
    def use(self, token: Held) -> None:
        answer = Api.as_agent(token.value).get("/v1/agent/self")
        outcome = {"active": (200, None), "expired": (401, "token_expired"), "revoked": (401, "token_revoked")}
        assert (answer.status, answer.error) == outcome[token.status]

    @invariant()
    def everybody_sees_their_own(self) -> None:
        for person, api in enumerate(self.people):
            found = api.get(REQUESTS, limit=100).json["requests"]
            expected = [request for request in self.requests if request.requester == person]
            assert {row["id"]: row["status"] for row in found} == {row.id: row.status for row in expected}
            tokens = api.get("/v1/agent-tokens", limit=100).json["tokens"]
            mine = [token for token in self.tokens if token.request.requester == person]
            assert {row["id"]: row["status"] for row in tokens} == {token.id: token.status for token in mine}

    @invariant()
    def no_bound_is_passed(self) -> None:
        pending = Counter(request.requester for request in self.requests if request.status == "pending")
        active = Counter(token.request.id for token in self.tokens if token.status == "active")
        assert max(pending.values(), default=0) <= PENDING_MAX
        assert max(active.values(), default=0) <= ACTIVE_MAX

    @staticmethod
    def _moves(answer: Answer, request: Asked, to: str) -> None:
        if request.status != "pending":
            assert (answer.status, answer.error) == (409, "request_not_pending")
            return
        assert (answer.status, answer.json["status"]) == (200, to)
        request.status = to


@pytest.mark.django_db
def test_requests_and_tokens_go_no_other_way() -> None:
    run(Requests, runs=8, steps=25)
