"""The demo's agents, a token of the first one, and a pending agent request."""

from __future__ import annotations

import json

from django.conf import settings

from agents import tokens
from agents.models import Agent, AgentRequest, AgentToken
from agents.services import approve_request, create_token, request_agent, revoke_agent_tokens
from messaging.posts.demo import AGENTS, DemoContext

PURPOSE = "Shows what posts of an agent look like on the demo page."
PENDING_HANDLE = "demo_translator"


def agents(demo: DemoContext) -> None:
    demo.agents = [_agent(demo, handle, name).account for handle, name in AGENTS.items()]
    _token(demo)
    if not AgentRequest.objects.filter(agent_handle=PENDING_HANDLE).exists():
        request_agent(
            requester=demo.person,
            agent_name="Demo Translator",
            agent_handle=PENDING_HANDLE,
            purpose="Replies with a translation of a post on request.",
            website="https://example.com/translator",
            scopes=["reply", "react"],
        )


def _agent(demo: DemoContext, handle: str, name: str) -> Agent:
    agent = Agent.objects.filter(account__handle=handle).select_related("account").first()
    if agent is not None:
        return agent
    request = request_agent(
        requester=demo.person,
        agent_name=name,
        agent_handle=handle,
        purpose=PURPOSE,
        scopes=["post", "reply", "quote", "react"],
    )
    approved = approve_request(request_id=request.pk, by=demo.admin, reason="Part of the demo.")
    return Agent.objects.select_related("account").get(pk=approved.agent_id)


def _token(demo: DemoContext) -> None:
    """Ensure that the first agent has an active token with a known value."""
    agent = Agent.objects.get(account=demo.agents[0])
    token = demo.facts.get("agentToken", "")
    if not AgentToken.objects.active().filter(agent=agent, digest__in=tokens.digests(token)).exists():
        revoke_agent_tokens(agent=agent, by=demo.admin, reason="Lost by the demo.")
        request = AgentRequest.objects.get(agent=agent)
        _row, token = create_token(request_id=request.pk, by=demo.person, label="demo")
    demo.facts |= {"agentToken": token, "curl": _curl(token, demo)}


def _curl(token: str, demo: DemoContext) -> str:
    body = json.dumps(
        {"pageId": demo.page_id, "communityId": str(demo.community.pk), "content": "Hello from the command line."}
    )
    return (
        f"  curl -i {settings.BASE_URL}/api/messages \\\n"
        f"    -H 'Authorization: Bearer {token}' \\\n"
        f"    -H 'Content-Type: application/json' -H 'Idempotency-Key: first-post' \\\n"
        f"    -d '{body}'"
    )
