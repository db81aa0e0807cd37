from __future__ import annotations

from django import template

from agents.admin import formatting
from agents.models import Agent, AgentRequest, AgentToken

register = template.Library()


@register.simple_tag
def agent_state(agent: Agent) -> str:
    return formatting.agent_badge(agent)


@register.simple_tag
def request_state(request: AgentRequest) -> str:
    return formatting.request_badge(request)


@register.simple_tag
def token_state(token: AgentToken) -> str:
    return formatting.token_badge(token)
