"""Agent requests and tokens: request, decide, create, revoke and expire in any order."""

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

pytestmark = pytest.mark.slow

PEOPLE = 3
HANDLES = ("one_agent", "two_agents", "three_agents", "four_agents", "five_agents")
PENDING_MAX, ACTIVE_MAX = 3, 5
REQUESTS = "/v1/agent-tokens/requests"
DECISIONS = (("approve", "approved"), ("reject", "rejected"))
PERSON = st.integers(0, PEOPLE - 1)


@dataclass(slots=True)
class ExpectedRequest:
    """The expected state of one agent request."""

    id: str
    requester: int
    handle: str
    status: str = "pending"


@dataclass(slots=True)
class ExpectedToken:
    """The expected state of one token."""

    id: str
    value: str
    request: ExpectedRequest
    status: str = "active"


class Requests(ServiceMachine):
    agent_requests = Bundle("agent_requests")
    agent_tokens = Bundle("agent_tokens")

    def __init__(self) -> None:
        super().__init__()
        self.people = [Api.as_person(PersonFactory()) for _ in range(PEOPLE)]
        self.admin = Api.as_person(SuperAdminFactory())
        self.requests: list[ExpectedRequest] = []
        self.tokens: list[ExpectedToken] = []

    @rule(target=agent_requests, person=PERSON, handle=st.sampled_from(HANDLES))
    def request_agent(self, person: int, handle: str) -> Any:
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
            self.requests.append(ExpectedRequest(answer.json["id"], person, handle))
            return self.requests[-1]
        return multiple()

    @rule(request=agent_requests, decision=st.sampled_from(["approve", "reject"]))
    def decide(self, request: ExpectedRequest, decision: str) -> None:
        self._moves(
            self.admin.post(f"{REQUESTS}/{request.id}/{decision}", {}), request, f"{decision}ed".replace("ee", "e")
        )

    @rule(request=agent_requests, person=PERSON)
    def cancel(self, request: ExpectedRequest, person: int) -> None:
        answer = self.people[person].post(f"{REQUESTS}/{request.id}/cancel")
        if person != request.requester:
            assert (answer.status, answer.error) == (404, "request_not_found")
        else:
            self._moves(answer, request, "cancelled")

    @rule(request=agent_requests, person=PERSON)
    def decide_without_the_right(self, request: ExpectedRequest, person: int) -> None:
        answer = self.people[person].post(f"{REQUESTS}/{request.id}/approve", {})
        assert (answer.status, answer.error) == (403, "super_admin_required")

    @rule(target=agent_tokens, request=agent_requests, person=PERSON)
    def create_token(self, request: ExpectedRequest, person: int) -> Any:
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
            self.tokens.append(ExpectedToken(answer.json["tokenId"], answer.json["token"], request))
            return self.tokens[-1]
        return multiple()

    @rule(token=agent_tokens, caller=st.one_of(PERSON, st.none()))
    def revoke(self, token: ExpectedToken, caller: int | None) -> None:
        api = self.admin if caller is None else self.people[caller]
        answer = api.post(f"/v1/agent-tokens/{token.id}/revoke", {})
        if caller not in (None, token.request.requester):
            assert (answer.status, answer.error) == (404, "token_not_found")
            return
        assert (answer.status, answer.json["revoked"]) == (200, token.status != "revoked")
        assert ("alreadyRevokedAt" in answer.json) == (token.status == "revoked")
        token.status = "revoked"

    @rule(token=agent_tokens)
    def expire(self, token: ExpectedToken) -> None:
        AgentToken.objects.filter(pk=token.id).update(expires_at=timezone.now() - timedelta(seconds=1))
        token.status = "expired" if token.status == "active" else token.status

    @rule(token=agent_tokens)
    def use(self, token: ExpectedToken) -> None:
        answer = Api.as_agent(token.value).get("/v1/agent/self")
        outcome = {"active": (200, None), "expired": (401, "token_expired"), "revoked": (401, "token_revoked")}
        assert (answer.status, answer.error) == outcome[token.status]

    @invariant()
    def lists_show_own_rows(self) -> None:
        for person, api in enumerate(self.people):
            rows = api.get(REQUESTS, limit=100).json["requests"]
            expected = [request for request in self.requests if request.requester == person]
            assert {row["id"]: row["status"] for row in rows} == {row.id: row.status for row in expected}
            tokens = api.get("/v1/agent-tokens", limit=100).json["tokens"]
            mine = [token for token in self.tokens if token.request.requester == person]
            assert {row["id"]: row["status"] for row in tokens} == {token.id: token.status for token in mine}

    @invariant()
    def maximums_are_not_exceeded(self) -> None:
        pending = Counter(request.requester for request in self.requests if request.status == "pending")
        active = Counter(token.request.id for token in self.tokens if token.status == "active")
        assert max(pending.values(), default=0) <= PENDING_MAX
        assert max(active.values(), default=0) <= ACTIVE_MAX

    @staticmethod
    def _moves(answer: Answer, request: ExpectedRequest, to: str) -> None:
        if request.status != "pending":
            assert (answer.status, answer.error) == (409, "request_not_pending")
            return
        assert (answer.status, answer.json["status"]) == (200, to)
        request.status = to


@pytest.mark.django_db
def test_requests_and_tokens_follow_the_state_model() -> None:
    run(Requests, runs=8, steps=25)
