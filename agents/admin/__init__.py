"""Admin of agent requests, agents and agent tokens."""

from agents.admin.agents import AgentAdmin, AgentTokenAdmin
from agents.admin.requests import AgentRequestAdmin

__all__ = ["AgentAdmin", "AgentRequestAdmin", "AgentTokenAdmin"]
