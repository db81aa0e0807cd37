"""Admin of agent requests, agents and agent tokens."""

from agents.admin.agents import AgentAdmin
from agents.admin.requests import AgentRequestAdmin
from agents.admin.tokens import AgentTokenAdmin

__all__ = ["AgentAdmin", "AgentRequestAdmin", "AgentTokenAdmin"]
