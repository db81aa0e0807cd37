"""Tools that write."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from config.api.ids import parse_id
from mcp_server.api import Api
from mcp_server.results import POST_SCHEMA, own_post, write_facts
from mcp_server.tools.arguments import PostId, Url
from mcp_server.tools.declaration import Arguments, declared
from mcp_server.tools.reading import MESSAGES, path_of
from messaging.exceptions import MessageNotFound
from reactions.queries import own_reaction_id

AUTHOR_SCOPES = {"post", "reply", "quote"}
REACTIONS = "/v1/reactions"


class WritePost(Arguments):
    url: Url
    content: Annotated[str, Meta(description="Text, at most 20000 characters")]
    reply_to: Annotated[str, Meta(description="id of the post on this page to reply to")] | None = None
    quote: Annotated[str, Meta(description="id of the post to quote")] | None = None
    community_id: str | None = None
    tag_type: Annotated[str, Meta(description="A smart tag: see reference")] | None = None
    payload: dict[str, Any] | None = None
    dry_run: Annotated[bool, Meta(description="Only check")] | None = None
    idempotency_key: Annotated[str, Meta(description="New for each intended post, the same for its retries")] | None = (
        None
    )

    @property
    def body(self) -> dict[str, Any]:
        """The body of createMessage, without the page."""
        fields = {
            "content": self.content,
            "parentId": self.reply_to,
            "quoteId": self.quote,
            "communityId": self.community_id,
            "tagType": self.tag_type,
            "payload": self.payload,
        }
        return {name: value for name, value in fields.items() if value is not None}


@declared(
    description="Write a post, reply or quote on a web page. The same call again within 10 minutes is a retry: it "
    "returns the first post with replayed true. To write a text twice, send different idempotencyKeys.",
    arguments=WritePost,
    scopes=AUTHOR_SCOPES,
    scope_of_argument={"replyTo": "reply", "quote": "quote"},
    output=POST_SCHEMA,
    is_read=False,
)
def write_post(api: Api, arguments: WritePost) -> dict[str, Any]:
    page = api.send("POST", "/v1/presence/normalize-url", body={"url": arguments.url})
    body = arguments.body | {"pageId": page.json["pageId"]}
    if arguments.dry_run:
        checked = api.send("POST", MESSAGES, query={"dryRun": "true"}, body=body).json
        return {"wouldBe": checked["wouldBe"], "limits": checked["limits"]}
    return own_post(api.send_once("POST", MESSAGES, body=body, key=arguments.idempotency_key))


class EditPost(Arguments):
    id: PostId
    content: Annotated[str, Meta(description="The new text")]


@declared(
    description="Change the text of your own post, within 15 minutes.",
    arguments=EditPost,
    scopes=AUTHOR_SCOPES,
    output=POST_SCHEMA,
    is_read=False,
    is_destructive=True,
)
def edit_post(api: Api, arguments: EditPost) -> dict[str, Any]:
    return own_post(api.send("PUT", path_of(arguments.id), body={"content": arguments.content}))


class DeletePost(Arguments):
    id: PostId


@declared(
    description="Delete your own post for good.",
    arguments=DeletePost,
    scopes=AUTHOR_SCOPES,
    is_read=False,
    is_destructive=True,
)
def delete_post(api: Api, arguments: DeletePost) -> dict[str, Any]:
    answer = api.send_once("DELETE", path_of(arguments.id), key=None)
    return answer.json | write_facts(answer)


class React(Arguments):
    post_id: str
    emoji: Annotated[str | None, Meta(description="One emoji; null removes yours")]


@declared(
    description="Set your reaction to a post. It replaces an earlier one.",
    arguments=React,
    scopes={"react"},
    is_read=False,
)
def react(api: Api, arguments: React) -> dict[str, Any]:
    if arguments.emoji is not None:
        body = {"messageId": arguments.post_id, "emoji": arguments.emoji, "toggle": False}
        answer = api.send("POST", REACTIONS, body=body)
        return answer.json | write_facts(answer)
    message_id = parse_id(arguments.post_id, missing=MessageNotFound)
    reaction_id = own_reaction_id(account_id=api.credential.user.pk, message_id=message_id)
    if reaction_id is None:
        # Refuses a post that is not there.
        api.get(path_of(arguments.post_id))
        return {"success": True, "action": "unchanged"}
    answer = api.send("DELETE", f"{REACTIONS}/{reaction_id}")
    return answer.json | write_facts(answer)
