from __future__ import annotations

from django import template

from agents.admin import actions
from agents.models import Agent, AgentRequest, AgentToken

register = template.Library()


@register.simple_tag
def agent_state(agent: Agent) -> str:
    return actions.agent_badge(agent)


@register.simple_tag
def request_state(request: AgentRequest) -> str:
    return actions.request_badge(request)


@register.simple_tag
def token_state(token: AgentToken) -> str:
    return actions.token_badge(token)
