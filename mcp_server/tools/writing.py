"""Tools that write."""

from __future__ import annotations

from typing import Annotated, Any

from django.conf import settings
from msgspec import Meta

from config.api.ids import parse_id
from mcp_server.api import Answer, Api, next_key
from mcp_server.results import POST_SCHEMA, own_post, write_facts
from mcp_server.tools.arguments import PostId, Url
from mcp_server.tools.declaration import Arguments, declared
from mcp_server.tools.reading import MESSAGES, path_of
from messaging.exceptions import MessageNotFound
from messaging.models import Message, MessageStatus
from reactions.queries import own_reaction_id

AUTHOR_SCOPES = {"post", "reply", "quote"}
REACTIONS = "/v1/reactions"
OF_POST = {"messageId": "id"}
# How often the same text is written again within the life of a derived key.
REWRITES_MAX = 50


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
    "returns the first post with replayed true, unless you deleted or edited it. To write a text twice, send different "
    "idempotencyKeys.",
    arguments=WritePost,
    scopes=AUTHOR_SCOPES,
    scope_of_argument={"replyTo": "reply", "quote": "quote"},
    argument_of={"parentId": "replyTo", "quoteId": "quote", "pageId": "url", "Idempotency-Key": "idempotencyKey"},
    texts={"tagType, attachments and quoteId": "tagType and quote"},
    output=POST_SCHEMA,
    is_read=False,
)
def write_post(api: Api, arguments: WritePost) -> dict[str, Any]:
    page = api.send("POST", "/v1/presence/normalize-url", body={"url": arguments.url})
    body = arguments.body | {"pageId": page.json["pageId"]}
    if arguments.dry_run:
        # A key is checked, but not used.
        checked = api.send("POST", MESSAGES, query={"dryRun": "true"}, body=body, key=arguments.idempotency_key).json
        return {"wouldBe": checked["wouldBe"], "limits": checked["limits"]}
    if arguments.idempotency_key is not None:
        return own_post(api.send("POST", MESSAGES, body=body, key=arguments.idempotency_key))
    return own_post(_written_once(api, body))


def _written_once(api: Api, body: dict[str, Any]) -> Answer:
    """Write the post unless this was done some minutes ago, and the author has not deleted or edited it since."""
    key = first_key = api.derived_key("POST", MESSAGES, body)
    answer = api.send("POST", MESSAGES, body=body, key=key)
    # Each round follows a post of these minutes, so the limits of an agent end the loop long before.
    for _ in range(REWRITES_MAX):
        if not answer.is_replayed or _is_as_written(answer.json["id"]):
            break
        key = next_key(key, answer.json["id"])
        answer = api.send("POST", MESSAGES, body=body, key=key)
    if key != first_key and not answer.is_replayed:
        api.renew_derived_key("POST", MESSAGES, first_key)
    return answer


def _is_as_written(post_id: str) -> bool:
    return Message.objects.filter(pk=post_id, edited_at=None).exclude(status=MessageStatus.DELETED).exists()


class EditPost(Arguments):
    id: PostId
    content: Annotated[str, Meta(description="The new text")]


@declared(
    description=f"Change the text of your own post, within {settings.EDIT_MINUTES} minutes of writing it.",
    arguments=EditPost,
    scopes=AUTHOR_SCOPES,
    argument_of=OF_POST,
    texts={"at least one of content, tagType, attachments and quoteId": "a content that is not empty"},
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
    argument_of=OF_POST,
    is_read=False,
    is_destructive=True,
)
def delete_post(api: Api, arguments: DeletePost) -> dict[str, Any]:
    path = path_of(arguments.id)
    answer = api.send("DELETE", path, key=api.derived_key("DELETE", path))
    return answer.json | write_facts(answer)


class React(Arguments):
    post_id: str
    emoji: Annotated[str | None, Meta(description="One emoji; null removes yours")]


@declared(
    description="Set your reaction to a post. It replaces an earlier one.",
    arguments=React,
    scopes={"react"},
    argument_of={"messageId": "postId", "id": "postId"},
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
