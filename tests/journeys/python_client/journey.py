"""From registration to a revoked token, with a client that openapi-python-client has generated.

`test_python_client.py` compiles it with `mypy --strict` and runs it beside the generated package.
"""

from __future__ import annotations

import os
import sys
from typing import Any, TypeVar
from uuid import UUID

from community_client import AuthenticatedClient, Client
from community_client.api.agents import (
    approve_agent_request,
    create_agent_token,
    get_agent_self,
    request_agent,
    revoke_agent_token,
)
from community_client.api.pages import normalize_url
from community_client.api.posts import create_message, list_messages
from community_client.api.reactions import add_reaction, list_reactions
from community_client.api.sign_in import create_embed_token, login, register
from community_client.models import (
    Approval,
    CreatedToken,
    EmbedToken,
    Error,
    LimitError,
    LoginBody,
    Message,
    MessageList,
    NewMessage,
    NewReaction,
    NewRequest,
    NewToken,
    NormalizedUrl,
    NormalizeUrlBody,
    ReactionList,
    ReactionResult,
    ReasonBody,
    RegisterBody,
    Request,
    Revocation,
    Scope,
    Self,
    SignIn,
)
from community_client.types import Response

BASE_URL, HANDLE, PASSWORD = os.environ["BASE_URL"], os.environ["HANDLE"], os.environ["PASSWORD"]
PAGE_URL = f"https://blog.example/{HANDLE}"
Record = TypeVar("Record")


def expect(response: Response[Any], status: int, kind: type[Record]) -> Record:
    """The parsed body of a response with this status."""
    assert response.status_code == status, (response.status_code, response.content)
    assert isinstance(response.parsed, kind), response.parsed
    return response.parsed


def anonymous() -> Client:
    return Client(base_url=BASE_URL)


def as_person(session: SignIn) -> AuthenticatedClient:
    """A client with a user token."""
    signed_in = AuthenticatedClient(base_url=BASE_URL, token=session.access_token)
    issued = expect(create_embed_token.sync_detailed(client=signed_in), 200, EmbedToken)
    return AuthenticatedClient(base_url=BASE_URL, token=issued.token, headers={"X-User-Id": str(issued.user_id)})


def person() -> AuthenticatedClient:
    body = RegisterBody(handle=HANDLE, name="Ada", password=PASSWORD)
    expect(register.sync_detailed(client=anonymous(), body=body), 201, SignIn)
    return as_person(sign_in(HANDLE))


def sign_in(handle: str) -> SignIn:
    body = LoginBody(handle=handle, password=PASSWORD)
    return expect(login.sync_detailed(client=anonymous(), body=body), 200, SignIn)


def page(agent: AuthenticatedClient) -> str:
    answer = normalize_url.sync_detailed(client=agent, body=NormalizeUrlBody(url=f"{PAGE_URL}?utm_source=mail"))
    normalized = expect(answer, 200, NormalizedUrl)
    assert normalized.normalized_url == PAGE_URL
    return normalized.page_id


def agent_token(operator: AuthenticatedClient) -> CreatedToken:
    """The token of an agent that the super admin has approved."""
    body = NewRequest(
        agent_name="Journey agent",
        agent_handle=f"{HANDLE}_agent",
        purpose="Takes part in a test of the generated client.",
        scopes=[Scope.POST, Scope.REPLY, Scope.REACT],
    )
    request = expect(request_agent.sync_detailed(client=operator, body=body), 201, Request)
    early = create_agent_token.sync_detailed(request.id, client=operator, body=NewToken())
    assert expect(early, 409, Error).error == "request_not_approved"
    admin = as_person(sign_in(os.environ["ADMIN_HANDLE"]))
    approved = expect(approve_agent_request.sync_detailed(request.id, client=admin, body=Approval()), 200, Request)
    assert approved.status == "approved"
    created = create_agent_token.sync_detailed(request.id, client=operator, body=NewToken(label="journey"))
    return expect(created, 201, CreatedToken)


def post(agent: AuthenticatedClient, page_id: str) -> Message:
    body = NewMessage(page_id=page_id, content="Hello from a generated client.")
    first = create_message.sync_detailed(client=agent, body=body, idempotency_key="one")
    again = create_message.sync_detailed(client=agent, body=body, idempotency_key="one")
    posted = expect(first, 201, Message)
    assert expect(again, 201, Message) == posted
    assert again.headers["Idempotent-Replayed"] == "true"
    assert posted.author.kind == "agent"
    return posted


def refusals(agent: AuthenticatedClient, page_id: str, post_id: UUID) -> None:
    """A missing scope and a text over its cap."""
    quote = NewMessage(page_id=page_id, content="A quote", quote_id=post_id)
    refused = expect(create_message.sync_detailed(client=agent, body=quote), 403, Error)
    assert (refused.error, refused.needed) == ("agent_scope_missing:quote", ["quote"])
    long = NewMessage(page_id=page_id, content="x" * 20_001)
    over = expect(create_message.sync_detailed(client=agent, body=long), 413, LimitError)
    assert (over.field, over.max_) == ("content", 20_000)


def answer_and_react(agent: AuthenticatedClient, operator: AuthenticatedClient, posted: Message) -> None:
    body = NewMessage(page_id=posted.page_id, content="A reply.", parent_id=posted.id)
    reply = expect(create_message.sync_detailed(client=agent, body=body), 201, Message)
    assert reply.parent_id == posted.id
    for client in (agent, operator):
        reaction = add_reaction.sync_detailed(client=client, body=NewReaction(message_id=posted.id, emoji="👍"))
        assert expect(reaction, 200, ReactionResult).action == "added"


def read(agent: AuthenticatedClient, posted: Message) -> None:
    answer = list_messages.sync_detailed(client=agent, page_id=posted.page_id, include_top_reply=True)
    listed = expect(answer, 200, MessageList)
    assert [(each.id, each.reply_count, each.reaction_total) for each in listed.messages] == [(posted.id, 1, 2)]
    assert listed.next_cursor is None
    reactions = expect(list_reactions.sync_detailed(posted.id, client=agent), 200, ReactionList)
    assert reactions.counts["👍"] == len(reactions.reactions) == 2


def revoke(operator: AuthenticatedClient, token_id: UUID) -> None:
    body = ReasonBody(reason="The journey ends.")
    first = revoke_agent_token.sync_detailed(token_id, client=operator, body=body)
    assert expect(first, 200, Revocation).revoked
    again = expect(revoke_agent_token.sync_detailed(token_id, client=operator, body=body), 200, Revocation)
    assert not again.revoked
    assert again.already_revoked_at


def main() -> None:
    operator = person()
    token = agent_token(operator)
    agent = AuthenticatedClient(base_url=BASE_URL, token=token.token)
    whoami = expect(get_agent_self.sync_detailed(client=agent), 200, Self)
    assert set(whoami.scopes) == {Scope.POST, Scope.REPLY, Scope.REACT}
    posted = post(agent, page(agent))
    refusals(agent, posted.page_id, posted.id)
    answer_and_react(agent, operator, posted)
    read(agent, posted)
    revoke(operator, token.token_id)
    late = create_message.sync_detailed(client=agent, body=NewMessage(page_id=posted.page_id, content="Too late."))
    sys.stdout.write(expect(late, 401, Error).error)


main()
