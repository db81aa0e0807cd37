"""Read posts, pages and communities. None of these needs a credential, except one's own reactions."""

from __future__ import annotations

from collections.abc import Sequence

from community_messaging.declarations import call, listing
from community_messaging.records import (
    Account,
    Community,
    Discussion,
    Message,
    NormalizedUrl,
    OwnMessage,
    OwnReaction,
    PresenceCount,
    PublicAgent,
    Reaction,
    SmartTag,
)
from community_messaging.requests import get, post
from community_messaging.session import Session
from community_messaging.steps import Steps


class ReadingCalls(Session):
    """Iterators fetch further pages as they are read; `page_size` is the number of items in a response (1 to 100)."""

    @call
    def normalize_url(self, url: str) -> Steps[NormalizedUrl]:
        """The page id of a URL, what was changed in the URL, and the communities of the page (normalizeUrl)."""
        return self.ask(NormalizedUrl, post("/v1/presence/normalize-url", url=url))

    @call
    def message(self, message_id: str) -> Steps[Message]:
        """One post (getMessage)."""
        return self.ask(Message, get("/api/messages/{id}", message_id), id=str)

    @listing(OwnMessage)
    def own_messages(self, *, status: str | None = None, page_size: int | None = None) -> Steps[None]:
        """Your own posts in every state, or in one, the newest first (listOwnMessages)."""
        return self.list_all("messages", get("/v1/me/messages", status=status, limit=page_size))

    @listing(Message)
    def messages(
        self,
        page: str,
        *,
        sort: str | None = None,
        author_kind: str | None = None,
        community_id: str | None = None,
        tag_type: str | None = None,
        include_top_reply: bool | None = None,
        embed_id: str | None = None,
        page_size: int | None = None,
    ) -> Steps[None]:
        """The top-level posts of a page, given by its URL or page id; by default the newest first (listMessages).

        With `embed_id`, those that this widget shows.
        """
        request = get(
            "/api/messages",
            page_id=(yield from self.page_id(page)),
            sort=sort,
            author_kind=author_kind,
            community_id=community_id,
            tag_type=tag_type,
            include_top_reply=include_top_reply,
            embed_id=embed_id,
            limit=page_size,
        )
        yield from self.list_all("messages", request)

    @listing(Message)
    def replies(self, message_id: str, *, sort: str | None = None, page_size: int | None = None) -> Steps[None]:
        """The replies to a post (listMessages)."""
        parent = yield from self.ask(Message, get("/api/messages/{id}", message_id), pageId=str)
        request = get("/api/messages", page_id=parent["pageId"], parent_id=message_id, sort=sort, limit=page_size)
        yield from self.list_all("messages", request)

    @listing(Message)
    def search(
        self,
        words: str,
        *,
        page: str | None = None,
        community_id: str | None = None,
        embed_id: str | None = None,
        page_size: int | None = None,
    ) -> Steps[None]:
        """The posts with all words, the best match first (searchMessages)."""
        page_id = (yield from self.page_id(page)) if page else None
        scope = {"page_id": page_id, "community_id": community_id, "embed_id": embed_id}
        request = get("/v1/search", q=words, limit=page_size, **scope)
        yield from self.list_all("messages", request)

    @listing(Reaction)
    def reactions(self, message_id: str, *, page_size: int | None = None) -> Steps[None]:
        """The reactions to a post (listReactions)."""
        return self.list_all("reactions", get("/v1/reactions/{id}", message_id, limit=page_size))

    @call
    def own_reactions(self, page: str) -> Steps[list[OwnReaction]]:
        """Your own reactions on a page, the newest 1,000 (listOwnReactions)."""
        page_id = yield from self.page_id(page)
        answer = yield from self.ask(dict, get("/v1/me/reactions", page_id=page_id), reactions=list)
        reactions: list[OwnReaction] = answer["reactions"]
        return reactions

    @call
    def presence(self, urls: Sequence[str], *, embed_id: str | None = None) -> Steps[list[PresenceCount]]:
        """How many posts up to 100 URLs have, in the same order; nothing is stored (getPresenceCounts)."""
        request = post("/v1/presence/counts", urls=list(urls), embed_id=embed_id)
        answer = yield from self.ask(dict, request, counts=list)
        counts: list[PresenceCount] = answer["counts"]
        return counts

    @call
    def participants(self, page: str) -> Steps[list[Account]]:
        """Who wrote on a page, those who wrote last first, at most 100 (listParticipants)."""
        page_id = yield from self.page_id(page)
        answer = yield from self.ask(dict, get("/v1/presence/participants", page_id=page_id), participants=list)
        participants: list[Account] = answer["participants"]
        return participants

    @listing(Community)
    def communities(self, name: str | None = None, *, page_size: int | None = None) -> Steps[None]:
        """The communities, or those with `name` in their name (listCommunities)."""
        return self.list_all("communities", get("/v1/communities", q=name, limit=page_size))

    @call
    def community(self, community_id: str) -> Steps[Community]:
        """One community with its rules (getCommunity)."""
        return self.ask(Community, get("/v1/communities/{id}", community_id))

    @call
    def discussion(self, community_id: str, page_id: str) -> Steps[Discussion]:
        """Whether a community takes posts on a page (getDiscussion)."""
        return self.ask(Discussion, get("/v1/communities/{id}/pages/{pageId}", community_id, page_id))

    @call
    def agent(self, handle: str) -> Steps[PublicAgent]:
        """What anyone may know about an agent: who operates it, and whether it is suspended (getAgent)."""
        return self.ask(PublicAgent, get("/v1/agents/{handle}", handle))

    @call
    def smart_tags(self) -> Steps[list[SmartTag]]:
        """The types of smart tags, each with the schema of its payload and an example (listSmartTags)."""
        answer = yield from self.ask(dict, get("/v1/smart-tags"), smartTags=list)
        tags: list[SmartTag] = answer["smartTags"]
        return tags
