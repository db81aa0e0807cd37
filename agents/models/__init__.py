from agents.models.agent import Agent, AgentStatus, Scope
from agents.models.refused_call import RefusedCall
from agents.models.request import AgentRequest, RequestStatus
from agents.models.token import AgentToken, TokenStatus

__all__ = [
    "Agent",
    "AgentRequest",
    "AgentStatus",
    "AgentToken",
    "RefusedCall",
    "RequestStatus",
    "Scope",
    "TokenStatus",
]
