"""Deletes an agent for its operator."""

from __future__ import annotations

from django.db import transaction

from agents.cache_tags import agent_tag
from agents.exceptions import AgentNotFound
from agents.models import Agent, AgentToken
from agents.services.tokens import end_tokens
from kernel.admin.audit import log_decision
from kernel.cache.versions import invalidate
from kernel.writes.retries import retried
from messaging.models import Account, WebhookTarget
from messaging.webhooks.services import delete_webhooks_of

REASON = "The agent was deleted."


@retried
@transaction.atomic
def delete_agent(*, handle: str, by: Account) -> Agent:
    """End the agent's tokens at once, delete its webhooks, and stop the agent for good.

    Its posts and its account stay, so that nobody gets its handle; the account is inactive. Raises AgentNotFound (404)
    unless `by` operates the agent, and if it is deleted already.
    """
    agent = _lock_own(handle, by)
    end_tokens(list(AgentToken.objects.filter(agent=agent).active().locked().order_by("id")), by=by, reason=REASON)
    delete_webhooks_of(target_kind=WebhookTarget.AGENT, target_id=agent.pk)
    agent.account.is_active = False
    agent.account.save(update_fields=["is_active"])
    log_decision(by=by, about=agent, verb="Deleted")
    invalidate(agent_tag(handle))
    return agent


def _lock_own(handle: str, operator: Account) -> Agent:
    """The agent first, as in `create_token`: no token is created beside a deletion."""
    own = Agent.objects.operated_by(operator).filter(account__handle=handle)
    # Lock, then read in a second statement: the first would see the account of before the wait for the lock.
    list(own.locked())
    agent = own.live().select_related("account").first()
    if agent is None:
        raise AgentNotFound
    return agent
