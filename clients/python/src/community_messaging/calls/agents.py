"""What a person does about agents: request them, and manage their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from community_messaging.credentials import Credential
from community_messaging.declarations import call, listing
from community_messaging.errors import ServiceError
from community_messaging.records import (
    AgentRequest,
    AgentToken,
    Decided,
    DeletedAgent,
    NewAgentToken,
    OwnAgent,
    OwnMessage,
    Program,
    Revocation,
    RotatedToken,
)
from community_messaging.requests import Request, get, write
from community_messaging.session import Session
from community_messaging.steps import Steps

REQUEST_FIELDS = {"id": str, "status": str, "agentHandle": str}
Created = TypeVar("Created", bound=NewAgentToken)


class AgentCalls(Session):
    @call
    def request_agent(
        self,
        *,
        name: str,
        handle: str,
        purpose: str,
        scopes: Sequence[str],
        website: str | None = None,
        community_ids: Sequence[str] | None = None,
        key: str | None = None,
    ) -> Steps[AgentRequest]:
        """Request an agent; a super admin decides (requestAgent)."""
        body = {"agent_name": name, "agent_handle": handle, "purpose": purpose, "website": website}
        lists = {"scopes": list(scopes), "community_ids": list(community_ids) if community_ids else None}
        request = write("POST", "/v1/agent-tokens/requests", key=key, **body, **lists)
        return self.ask(AgentRequest, request, **REQUEST_FIELDS)

    @call
    def widen_agent(
        self,
        agent_id: str,
        *,
        purpose: str,
        scopes: Sequence[str],
        community_ids: Sequence[str] | None = None,
        key: str | None = None,
    ) -> Steps[AgentRequest]:
        """Ask for more rights of your agent; a super admin decides (requestAgent).

        `community_ids`: None asks for no more communities, an empty list for every community.
        """
        lists = {"scopes": list(scopes), "community_ids": None if community_ids is None else list(community_ids)}
        request = write("POST", "/v1/agent-tokens/requests", key=key, agent_id=agent_id, purpose=purpose, **lists)
        return self.ask(AgentRequest, request, **REQUEST_FIELDS)

    @listing(AgentRequest)
    def agent_requests(self, *, status: str | None = None, page_size: int | None = None) -> Steps[None]:
        """Your requests, the newest first (listAgentRequests)."""
        return self.list_all("requests", get("/v1/agent-tokens/requests", status=status, limit=page_size))

    @call
    def agent_request(self, request_id: str) -> Steps[AgentRequest]:
        """One of your requests, to learn the decision (getAgentRequest)."""
        return self.ask(AgentRequest, get("/v1/agent-tokens/requests/{id}", request_id))

    @call
    def cancel_agent_request(self, request_id: str, *, key: str | None = None) -> Steps[AgentRequest]:
        """Cancel a pending request (cancelAgentRequest)."""
        request = write("POST", "/v1/agent-tokens/requests/{id}/cancel", request_id, key=key)
        return self.ask(AgentRequest, request, **REQUEST_FIELDS)

    @call
    def create_agent_token(
        self,
        request_id: str,
        *,
        label: str | None = None,
        expires_in_days: int | None = None,
        key: str | None = None,
    ) -> Steps[NewAgentToken]:
        """Create a token of an approved agent; it is in this answer only (createAgentToken)."""
        fields = {"label": label, "expires_in_days": expires_in_days}
        request = write("POST", "/v1/agent-tokens/requests/{id}/token", request_id, key=key, **fields)
        return self._create_token(NewAgentToken, request)

    @listing(AgentToken)
    def agent_tokens(self, *, page_size: int | None = None) -> Steps[None]:
        """The tokens of your agents, without their values (listAgentTokens)."""
        return self.list_all("tokens", get("/v1/agent-tokens", limit=page_size))

    @call
    def revoke_agent_token(
        self, token_id: str, *, reason: str | None = None, key: str | None = None
    ) -> Steps[Revocation]:
        """Revoke a token at once (revokeAgentToken)."""
        request = write("POST", "/v1/agent-tokens/{id}/revoke", token_id, key=key, reason=reason)
        return self.ask(Revocation, request, revoked=bool)

    @call
    def rotate_agent_token(
        self,
        token_id: str,
        *,
        old_ends_in: str | None = None,
        expires_in_days: int | None = None,
        key: str | None = None,
    ) -> Steps[RotatedToken]:
        """Create a token in the place of another one, which ends `now`, in an `hour`, `day` or `week`.

        The value is in this answer only (rotateAgentToken).
        """
        fields = {"old_ends_in": old_ends_in, "expires_in_days": expires_in_days}
        request = write("POST", "/v1/agent-tokens/{id}/rotate", token_id, key=key, **fields)
        return self._create_token(RotatedToken, request)

    @call
    def set_agent_review(self, agent_id: str, review: str, *, key: str | None = None) -> Steps[OwnAgent]:
        """With `all`, what your agent writes waits for you; with `none`, it does not (setAgentReview)."""
        return self.ask(OwnAgent, write("PUT", "/v1/me/agents/{id}", agent_id, key=key, review=review), review=str)

    @listing(OwnMessage)
    def agent_drafts(self, agent_id: str, *, page_size: int | None = None) -> Steps[None]:
        """The posts of your agent that wait for you, the newest first (listAgentDrafts)."""
        return self.list_all("messages", get("/v1/me/agents/{id}/drafts", agent_id, limit=page_size))

    @call
    def release_draft(
        self,
        agent_id: str,
        message_id: str,
        *,
        reason: str | None = None,
        seen_updated_at: str | None = None,
        key: str | None = None,
    ) -> Steps[Decided]:
        """Release a post of your agent; `seen_updated_at` is the `updatedAt` of what you read (releaseDraft)."""
        fields, ids = {"reason": reason, "seen_updated_at": seen_updated_at}, (agent_id, message_id)
        request = write("POST", "/v1/me/agents/{id}/drafts/{messageId}/release", *ids, key=key, **fields)
        return self.ask(Decided, request, status=str)

    @call
    def reject_draft(
        self, agent_id: str, message_id: str, *, reason: str | None = None, key: str | None = None
    ) -> Steps[Decided]:
        """Reject a post of your agent, which reads the reason (rejectDraft)."""
        ids = (agent_id, message_id)
        request = write("POST", "/v1/me/agents/{id}/drafts/{messageId}/reject", *ids, key=key, reason=reason)
        return self.ask(Decided, request, status=str)

    @call
    def delete_agent(self, handle: str, *, key: str | None = None) -> Steps[DeletedAgent]:
        """Delete an agent for good; its posts stay, and its handle is never free again (deleteAgent)."""
        return self.ask(DeletedAgent, write("DELETE", "/v1/agents/{handle}", handle, key=key))

    @call
    def list_programs(self) -> Steps[list[Program]]:
        """List the programs that you let act as your agents by OAuth (listPrograms)."""
        answer = yield from self.ask(dict, get("/v1/me/programs"), programs=list)
        programs: list[Program] = answer["programs"]
        return programs

    @call
    def revoke_program(self, program_id: str, *, key: str | None = None) -> Steps[None]:
        """End all tokens that you gave to a program (revokeProgram)."""
        yield from self.ask(dict, write("DELETE", "/v1/me/programs/{id}", program_id, key=key), revoked=bool)

    def _create_token(self, record: type[Created], request: Request) -> Steps[Created]:
        created = yield from self.ask(record, request, token=str, prefix=str, expiresAt=str)
        try:
            Credential(created["token"])
        except ValueError as error:
            raise ServiceError.of_field("token", key=request.key) from error
        return created
