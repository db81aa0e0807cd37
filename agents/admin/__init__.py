"""Agents on the super admins' desk: who asks, what an agent may do, what it did, and stopping it."""

from agents.admin.agents import AgentAdmin
from agents.admin.requests import AgentRequestAdmin
from agents.admin.tokens import AgentTokenAdmin

__all__ = ["AgentAdmin", "AgentRequestAdmin", "AgentTokenAdmin"]
