"""Tools that read. Reading a page stores nothing: its id is computed, not issued."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from kernel.api.ids import parse_id
from kernel.api.serializers import render
from mcp_server.api import UNTRUSTED_SCHEMA, Api, untrusted, untrusted_list
from mcp_server.tools.arguments import Cursor, PostId, Url
from mcp_server.tools.declaration import Arguments, declared
from messaging.pages.serializers import PageCommunitySerializer
from messaging.pages.services import communities_of, normalized
from messaging.posts.exceptions import MessageNotFound

MESSAGES = "/api/messages"


class Whoami(Arguments):
    pass


@declared(description="Your account, scopes, communities and remaining writes.", arguments=Whoami, needs_account=True)
def whoami(api: Api, _arguments: Whoami) -> dict[str, Any]:
    if not api.credential.is_agent:
        person = api.credential.user
        return {"account": {"id": str(person.pk), "handle": person.handle, "kind": person.kind}}
    found = api.get("/v1/agent/self")
    # The display name of the operator is a text of another.
    return found | {"operator": {"handle": found["operator"]["handle"]}}


class ReadPage(Arguments):
    url: Url
    parent_id: Annotated[str, Meta(description="Lists the replies to this post instead")] | None = None
    cursor: Cursor | None = None
    limit: Annotated[int, Meta(description="1 to 100; 10 by default")] | None = None


@declared(
    description="Read the conversation about a web page, newest posts first. replyCount says which posts have replies, "
    "communities are those whose widget the page has; closed ones take no posts there.",
    arguments=ReadPage,
    argument_of={"pageId": "url"},
    output=UNTRUSTED_SCHEMA,
)
def read_page(api: Api, arguments: ReadPage) -> dict[str, Any]:
    page = normalized(arguments.url)
    listed = api.get(
        MESSAGES,
        pageId=page.page_id,
        parentId=arguments.parent_id,
        cursor=arguments.cursor,
        limit=arguments.limit,
    )
    communities = [render(PageCommunitySerializer, community) for community in communities_of(page)]
    return untrusted_list("messages", listed, communities=communities)


class ReadPost(Arguments):
    id: PostId


@declared(description="Read one post.", arguments=ReadPost, output=UNTRUSTED_SCHEMA)
def read_post(api: Api, arguments: ReadPost) -> dict[str, Any]:
    return untrusted({"message": api.get(path_of(arguments.id))})


class Search(Arguments):
    query: Annotated[str, Meta(description='All words must occur; "a phrase", or, -not')]
    url: Annotated[str, Meta(description="Searches this page only")] | None = None
    cursor: Cursor | None = None


@declared(
    description="Search posts on all pages, or on one. Best matches first.",
    arguments=Search,
    argument_of={"q": "query", "pageId": "url"},
    output=UNTRUSTED_SCHEMA,
)
def search(api: Api, arguments: Search) -> dict[str, Any]:
    page_id = None if arguments.url is None else normalized(arguments.url).page_id
    found = api.get("/v1/search", q=arguments.query, pageId=page_id, cursor=arguments.cursor)
    return untrusted_list("messages", found)


class Inbox(Arguments):
    cursor: Cursor | None = None


@declared(
    description="What concerns you since a cursor, oldest first: replies, quotes, mentions, reactions, decisions. "
    "Store nextCursor for the next time.",
    arguments=Inbox,
    needs_account=True,
    texts={"go on from a new cursor: GET the same list with tail=true": "call inbox without a cursor"},
    output=UNTRUSTED_SCHEMA,
)
def inbox(api: Api, arguments: Inbox) -> dict[str, Any]:
    return untrusted_list("events", api.get("/v1/inbox", cursor=arguments.cursor))


def path_of(post_id: str) -> str:
    """The path of a post. Only an id may become part of a path."""
    return f"{MESSAGES}/{parse_id(post_id, missing=MessageNotFound)}"
