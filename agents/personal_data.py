"""What the agents of a person have stored, for an export, and their erasure."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db.models import Q

from agents.cache_tags import agent_tag
from agents.exceptions import RequestNotPending
from agents.models import Agent, AgentRequest, AgentToken, RefusedCall
from agents.services.requests import cancel_request
from kernel.admin.audit import forget_entries_about
from kernel.cache.versions import invalidate
from kernel.personal_data import Section, Subject
from messaging.models import Account
from messaging.privacy import exporters
from messaging.privacy.exporters import table

OF_A_REQUEST = (
    *("id", "agent_id", "agent_name", "agent_handle", "purpose", "website", "scopes", "community_ids", "status"),
    *("widens_id", "every_community", "former_scopes", "former_community_ids", "reason", "decided_at", "created_at"),
)
OF_A_TOKEN = (
    *("id", "agent_id", "prefix", "label", "scopes", "created_at", "expires_at", "last_used_at"),
    *("revoked_at", "revoke_reason"),
)


def sections(account_id: UUID) -> Iterable[Section]:
    """Of an agent, which has no export of its own but a record (`desk.records`): the agent itself."""
    agents = Agent.objects.filter(Q(operator=account_id) | Q(account=account_id)).select_related("account", "operator")
    yield Section("agents", "The agents that you operate.", agents, (_agent(agent) for agent in agents))
    requests = AgentRequest.objects.filter(Q(requester=account_id) | Q(agent=account_id) | Q(widens=account_id))
    yield table("agent_requests", "Your requests for agents.", requests, OF_A_REQUEST)
    tokens = AgentToken.objects.filter(agent__in=agents).defer("digest")
    yield table("agent_tokens", "The tokens of your agents, without their values.", tokens, OF_A_TOKEN)
    calls = RefusedCall.objects.filter(agent__in=agents)
    columns = ("agent_id", "day", "operation", "code", "calls")
    yield table("refused_calls", "The refused calls of your agents.", calls, columns)
    for agent in agents.exclude(account=account_id):
        posts = exporters.posts_of(agent.pk)
        name = f"posts_of_{agent.account.handle}"
        yield Section(name, "The posts of this agent.", posts, exporters.post_records(posts))


def stop(person: Account) -> list[UUID]:
    """Cancel the pending requests of a person; returns the accounts of the agents."""
    for request_id in list(AgentRequest.objects.asked_by(person).pending().values_list("pk", flat=True)):
        # A super admin may decide meanwhile. An agent that is approved is among those below.
        with suppress(RequestNotPending):
            cancel_request(request_id=request_id, by=person)
    agents = Agent.objects.operated_by(person).select_related("account")
    invalidate(*(agent_tag(agent.account.handle) for agent in agents))
    return [agent.pk for agent in agents]


def erase(subject: Subject) -> int:
    """All agents of a person at once: they are few. What the person has decided about others is an heir's."""
    ids, heir = subject.account_ids, subject.heir_id
    requests = AgentRequest.objects.filter(Q(requester__in=ids) | Q(agent__in=ids) | Q(widens__in=ids))
    tokens = AgentToken.objects.filter(agent__in=ids)
    for model, rows in ((AgentRequest, requests), (AgentToken, tokens)):
        forget_entries_about(model, list(rows.values_list("pk", flat=True)))
    forget_entries_about(Agent, ids)
    erased = requests.delete()[0] + tokens.delete()[0]
    erased += RefusedCall.objects.filter(agent__in=ids).delete()[0]
    erased += Agent.objects.filter(pk__in=ids).delete()[0]
    Agent.objects.filter(frozen_by__in=ids).update(frozen_by=heir)
    AgentRequest.objects.filter(decided_by__in=ids).update(decided_by=heir)
    AgentToken.objects.filter(revoked_by__in=ids).update(revoked_by=heir)
    AgentToken.objects.filter(created_by__in=ids).update(created_by=heir)
    return erased


def erase_mentions(subject: Subject) -> int:
    """The reasons of decisions about the agents of others that mention the person."""
    reasons = ((AgentRequest, "reason"), (AgentToken, "revoke_reason"), (Agent, "freeze_reason"))
    return sum(
        model._default_manager.filter(**{f"{column}__regex": subject.mentions}).update(**{column: ""})
        for model, column in reasons
    )


def _agent(agent: Agent) -> dict[str, Any]:
    names = ("scopes", "community_ids", "review", "frozen_at", "freeze_reason", "created_at")
    record = {"id": agent.pk, "handle": agent.account.handle, "name": agent.account.name}
    record["operator"] = agent.operator.handle
    return record | {name: getattr(agent, name) for name in names}
