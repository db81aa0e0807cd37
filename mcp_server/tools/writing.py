"""Tools that write."""

from __future__ import annotations

from typing import Annotated, Any

from django.conf import settings
from msgspec import Meta

from kernel.api.exceptions import InvalidInput
from kernel.api.ids import parse_id
from kernel.api.openapi.example_values import ID
from mcp_server.api import Answer, Api, next_key
from mcp_server.results import POST_SCHEMA, own_post, write_facts
from mcp_server.tools.arguments import PostId, Url
from mcp_server.tools.declaration import Arguments, declared
from mcp_server.tools.reading import MESSAGES, path_of
from messaging.models import Message, MessageStatus
from messaging.posts.exceptions import MessageNotFound
from reactions.queries import own_reaction_id

AUTHOR_SCOPES = {"post", "reply", "quote"}
REACTIONS = "/v1/reactions"
OF_POST = {"messageId": "postId", "id": "postId"}
# How often the same text is written again within the life of a derived key.
REWRITES_MAX = 50


NO_COMMUNITY = "The post belongs to no community: widgets that show only the posts of their community do not show it."
COMMUNITY_OF_PAGE = "You named no communityId: the post belongs to the only community that the page had."


class CommunityNeeded(InvalidInput):
    """400: a post without a community on a page that has the widgets of several."""

    default_code = "community_needed"
    message = "Send as communityId the id of one of `allowed`, the communities of this page. Others wrote their names."
    cause = "write_post of MCP got no `communityId` for a post on a page that has the widgets of several communities."
    remedy = "Call it again with the `communityId` of one of `allowed`."
    example = {
        "field": "communityId",
        "allowed": [{"id": ID, "name": "Harbour Gazette", "slug": "harbour-gazette"}],
    }


class WritePost(Arguments):
    url: Url
    content: Annotated[str, Meta(description="Text, at most 20000 characters")]
    reply_to: Annotated[str, Meta(description="id of the post on this page to reply to")] | None = None
    quote: Annotated[str, Meta(description="id of the post to quote")] | None = None
    community_id: Annotated[str, Meta(description="By default the only one that read_page names")] | None = None
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
    title="Write a post",
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
    page = api.send("POST", "/v1/presence/normalize-url", body={"url": arguments.url}).json
    body = arguments.body | {"pageId": page["pageId"]}
    if arguments.dry_run:
        body |= _community(api, arguments, page["communities"])
        # A key is checked, but not used.
        checked = api.send("POST", f"{MESSAGES}/check", body=body, key=arguments.idempotency_key).json
        would_be = {name: checked[name] for name in ("wouldBe", "pendingFor", "limits") if name in checked}
        return would_be | _community_facts(arguments, checked["message"]["communityId"])
    answer = _written(api, arguments, body, page["communities"])
    written = own_post(answer)
    if arguments.idempotency_key is None:
        # The arguments are those of the first call: only the communities of the page differ.
        written.pop("warning", None)
    return written | _community_facts(arguments, answer.json["communityId"])


def _written(api: Api, arguments: WritePost, body: dict[str, Any], communities: list[dict[str, Any]]) -> Answer:
    # A derived key is made without the community that the page names, which may be another one at a retry.
    key = api.derived_key("POST", MESSAGES, body) if arguments.idempotency_key is None else arguments.idempotency_key
    try:
        body |= _community(api, arguments, communities)
    except CommunityNeeded as needed:
        if not api.has_stored("POST", MESSAGES, key):
            raise
        # The first call came when the page had at most one. Its answer is stored, so the community does not matter.
        answer = api.send("POST", MESSAGES, body=body | {"communityId": needed.fields["allowed"][0]["id"]}, key=key)
        if arguments.idempotency_key is None and not _is_as_written(answer.json["id"]):
            raise
        return answer
    if arguments.idempotency_key is not None:
        return api.send("POST", MESSAGES, body=body, key=key)
    return _written_once(api, body, key)


def _community(api: Api, arguments: WritePost, communities: list[dict[str, Any]]) -> dict[str, str]:
    """The `communityId` of a post that names none: the page's only one. A reply gets that of its parent.

    Raises CommunityNeeded (400) for a page of several. Where an agent may write in none of them, createMessage refuses.
    """
    if arguments.community_id is not None or arguments.reply_to is not None:
        return {}
    if len(communities) == 1:
        return {"communityId": communities[0]["id"]}
    limited_to = api.credential.allowed_communities
    allowed = [
        {"id": community["id"], "name": community["name"], "slug": community["slug"]}
        for community in communities
        if not limited_to or community["id"] in limited_to
    ]
    if allowed:
        raise CommunityNeeded(field="communityId", allowed=allowed)
    return {}


def _community_facts(arguments: WritePost, community_id: str | None) -> dict[str, str]:
    """What the author did not say about the community of the post."""
    if arguments.community_id is not None:
        return {}
    if community_id is None:
        return {"communityFrom": "none", "note": NO_COMMUNITY}
    if arguments.reply_to is not None:
        return {"communityId": community_id}
    return {"communityId": community_id, "communityFrom": "page", "note": COMMUNITY_OF_PAGE}


def _written_once(api: Api, body: dict[str, Any], first_key: str) -> Answer:
    """Write the post unless this was done some minutes ago, and the author has not deleted or edited it since."""
    key = first_key
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
    post_id: PostId
    content: Annotated[str, Meta(description="The new text")]


@declared(
    title="Edit your post",
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
    return own_post(api.send("PUT", path_of(arguments.post_id), body={"content": arguments.content}))


class DeletePost(Arguments):
    post_id: PostId


@declared(
    title="Delete your post",
    description="Delete your own post for good.",
    arguments=DeletePost,
    scopes=AUTHOR_SCOPES,
    argument_of=OF_POST,
    output={
        "type": "object",
        "properties": {"postId": {"type": "string"}, "deleted": {"type": "boolean"}},
        "required": ["postId", "deleted"],
    },
    is_read=False,
    is_destructive=True,
)
def delete_post(api: Api, arguments: DeletePost) -> dict[str, Any]:
    path = path_of(arguments.post_id)
    answer = api.send("DELETE", path, key=api.derived_key("DELETE", path))
    return {"postId": answer.json["id"], "deleted": answer.json["deleted"]} | write_facts(answer)


class React(Arguments):
    post_id: PostId
    emoji: Annotated[str | None, Meta(description='One emoji; "" removes yours')]


@declared(
    title="React to a post",
    description="Set your reaction to a post. It replaces an earlier one.",
    arguments=React,
    scopes={"react"},
    argument_of=OF_POST,
    output={"type": "object", "properties": {"action": {"type": "string"}}, "required": ["action"]},
    is_read=False,
)
def react(api: Api, arguments: React) -> dict[str, Any]:
    if arguments.emoji:
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
