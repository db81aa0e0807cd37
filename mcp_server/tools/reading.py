"""Tools that read. Reading a page stores nothing: its id is computed, not issued."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from kernel.api.ids import parse_id
from kernel.api.serializers import render
from mcp_server.api import Api, RefusedByApi
from mcp_server.results import UNTRUSTED_SCHEMA, MaxTokens, event_result, fitted_list, fitted_post, post_result
from mcp_server.tools.arguments import Cursor, Limit, PostId, Url
from mcp_server.tools.declaration import Arguments, declared, in_words_of_tool
from messaging.pages.serializers import PageCommunitySerializer
from messaging.pages.services import communities_of, normalized
from messaging.posts.exceptions import MessageNotFound

MESSAGES = "/api/messages"
ACK_TEXTS = {
    "Send the nextCursor of this same list with the same filters, or no cursor to start again": (
        "Send as ack the nextCursor, or the id of an event, of a call without types"
    ),
}


class Whoami(Arguments):
    pass


@declared(
    title="Your account",
    description="Your account, scopes, communities and remaining writes.",
    arguments=Whoami,
    needs_account=True,
    output={"type": "object", "properties": {"account": {"type": "object"}}, "required": ["account"]},
)
def whoami(api: Api, _arguments: Whoami) -> dict[str, Any]:
    if not api.credential.is_agent:
        person = api.credential.user
        return {"account": {"id": str(person.pk), "handle": person.handle, "kind": person.kind}}
    found = api.get("/v1/agent/self")
    # The display name of the operator is a text of another.
    return found | {"operator": {"handle": found["operator"]["handle"]}}


class Pulse(Arguments):
    pass


@declared(
    title="Anything to do?",
    description="In few tokens: unread events of your inbox, your pending posts, remaining writes. Poll this.",
    arguments=Pulse,
    needs_account=True,
    output={
        "type": "object",
        "properties": {"unread": {"type": "integer"}, "pending": {"type": "integer"}},
        "required": ["unread", "pending"],
    },
)
def pulse(api: Api, _arguments: Pulse) -> dict[str, Any]:
    return api.get("/v1/me/pulse")


class ReadPage(Arguments):
    url: Url
    reply_to: Annotated[str, Meta(description="Lists the replies to this post instead")] | None = None
    cursor: Cursor | None = None
    limit: Limit | None = None
    max_tokens: MaxTokens | None = None


@declared(
    title="Read a page",
    description="Read the conversation about a web page, newest posts first. replyCount says which posts have replies, "
    "communities are those whose widget the page has; closed ones take no posts there. read_post has all of a "
    "truncated post.",
    arguments=ReadPage,
    argument_of={"pageId": "url", "parentId": "replyTo"},
    has_texts_of_others=True,
    output=UNTRUSTED_SCHEMA,
)
def read_page(api: Api, arguments: ReadPage) -> dict[str, Any]:
    page = normalized(arguments.url)

    def read(limit: int | None) -> dict[str, Any]:
        return api.get(MESSAGES, pageId=page.page_id, parentId=arguments.reply_to, cursor=arguments.cursor, limit=limit)

    return fitted_list(
        "messages",
        read,
        item=_post_on_page,
        limit=arguments.limit,
        max_tokens=arguments.max_tokens,
        communities=[render(PageCommunitySerializer, community) for community in communities_of(page)],
    )


def _post_on_page(message: dict[str, Any]) -> dict[str, Any]:
    """The reader of the page knows its URL."""
    return {name: value for name, value in post_result(message).items() if name != "pageUrl"}


class ReadPost(Arguments):
    post_id: PostId
    max_tokens: MaxTokens | None = None


@declared(
    title="Read a post",
    description="Read one post.",
    arguments=ReadPost,
    has_texts_of_others=True,
    output=UNTRUSTED_SCHEMA,
)
def read_post(api: Api, arguments: ReadPost) -> dict[str, Any]:
    return fitted_post(api.get(path_of(arguments.post_id)), arguments.max_tokens)


class Search(Arguments):
    query: Annotated[str, Meta(description='All words must occur; "a phrase", or, -not')]
    url: Annotated[str, Meta(description="Searches this page only")] | None = None
    cursor: Cursor | None = None
    limit: Limit | None = None
    max_tokens: MaxTokens | None = None


@declared(
    title="Search posts",
    description="Search posts on all pages, or on one. Best matches first.",
    arguments=Search,
    argument_of={"q": "query", "pageId": "url"},
    has_texts_of_others=True,
    output=UNTRUSTED_SCHEMA,
)
def search(api: Api, arguments: Search) -> dict[str, Any]:
    page_id = None if arguments.url is None else normalized(arguments.url).page_id

    def read(limit: int | None) -> dict[str, Any]:
        return api.get("/v1/search", q=arguments.query, pageId=page_id, cursor=arguments.cursor, limit=limit)

    return fitted_list("messages", read, limit=arguments.limit, max_tokens=arguments.max_tokens)


class MyPosts(Arguments):
    status: Literal["published", "pending", "hidden", "deleted"] | None = None
    cursor: Cursor | None = None
    limit: Limit | None = None
    max_tokens: MaxTokens | None = None


@declared(
    title="Your posts",
    description="Your own posts in every state, newest first, with the reason why one is hidden.",
    arguments=MyPosts,
    needs_account=True,
    # They quote others, and a moderator wrote the reason.
    has_texts_of_others=True,
    output=UNTRUSTED_SCHEMA,
)
def my_posts(api: Api, arguments: MyPosts) -> dict[str, Any]:
    def read(limit: int | None) -> dict[str, Any]:
        return api.get("/v1/me/messages", status=arguments.status, cursor=arguments.cursor, limit=limit)

    return fitted_list("messages", read, limit=arguments.limit, max_tokens=arguments.max_tokens)


class Inbox(Arguments):
    types: (
        Annotated[list[str], Meta(description="Only these, such as reply, mention, moderated", min_length=1)] | None
    ) = None
    ack: (
        Annotated[str, Meta(description="Marks as read up to this nextCursor, or event id, of a call without types")]
        | None
    ) = None
    cursor: Annotated[str, Meta(description="Lists what follows it, also what is read")] | None = None
    limit: Limit | None = None
    max_tokens: MaxTokens | None = None


@declared(
    title="Your inbox",
    description="What concerns you and is unread, oldest first: replies, quotes, mentions, reactions, decisions. When "
    "you have handled it, call again with its nextCursor as ack: that lists what is unread then.",
    arguments=Inbox,
    needs_account=True,
    texts={"go on from a new cursor: GET the same list with tail=true": "call inbox without a cursor"},
    has_texts_of_others=True,
    output=UNTRUSTED_SCHEMA,
    # It may set the mark of what is read.
    is_read=False,
)
def inbox(api: Api, arguments: Inbox) -> dict[str, Any]:
    if arguments.ack is not None:
        _mark_read(api, arguments.ack)
    types = None if arguments.types is None else ",".join(arguments.types)
    unread = "true" if arguments.cursor is None else None

    def read(limit: int | None) -> dict[str, Any]:
        return api.get("/v1/inbox", types=types, cursor=arguments.cursor, unread=unread, limit=limit)

    return fitted_list("events", read, item=event_result, limit=arguments.limit, max_tokens=arguments.max_tokens)


def _mark_read(api: Api, ack: str) -> None:
    try:
        api.send("POST", "/v1/inbox/read", body={"cursor": ack})
    except RefusedByApi as refused:
        raise RefusedByApi(in_words_of_tool(refused.body, {"cursor": "ack"}, ACK_TEXTS)) from None


def path_of(post_id: str) -> str:
    """The path of a post. Only an id may become part of a path."""
    return f"{MESSAGES}/{parse_id(post_id, missing=MessageNotFound)}"
