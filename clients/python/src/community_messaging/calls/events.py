"""Learn what happens: the inbox of the caller, and the public changes."""

from __future__ import annotations

from collections.abc import Iterable

from community_messaging.declarations import call, listing
from community_messaging.following import Channel, follow
from community_messaging.records import Change, Event, Inbox, Pulse, Unread
from community_messaging.requests import get, write
from community_messaging.session import Session
from community_messaging.steps import Steps

POLL_SECONDS = 15.0


class EventCalls(Session):
    """The `id` of each item is the cursor after it: store it, and the next call with the same filters goes on there."""

    @listing(Event)
    def inbox(self, cursor: str | None = None, *, types: Iterable[str] | None = None) -> Steps[None]:
        """What has concerned the caller after the cursor, the oldest first (listInbox)."""
        return self._list(_inbox(types), cursor)

    @call
    def inbox_page(
        self,
        cursor: str | None = None,
        *,
        types: Iterable[str] | None = None,
        unread: bool | None = None,
        page_size: int | None = None,
    ) -> Steps[Inbox]:
        """One page of the inbox (listInbox). `nextCursor` advances without events too, so that it does not expire.

        With `unread`, only events after the mark of `mark_read`.
        """
        request = _inbox(types).request(limit=page_size, cursor=cursor)
        if unread:
            request = request.asking(unread="true")
        return self.ask(Inbox, request, events=list, hasMore=bool, nextCursor=str)

    @listing(Event)
    def follow_inbox(
        self,
        cursor: str | None = None,
        *,
        types: Iterable[str] | None = None,
        poll_seconds: float = POLL_SECONDS,
    ) -> Steps[None]:
        """What concerns the caller, as it happens, after the cursor or from now (streamInbox, listInbox).

        It resumes after failures and misses nothing. An event `resync` says that older ones are no longer stored.
        """
        return follow(self, _inbox(types), cursor, poll_seconds)

    @call
    def mark_read(self, cursor: str, *, key: str | None = None) -> Steps[Unread]:
        """Mark the events up to the cursor as read (readInbox). The cursor is that of a call without `types`."""
        return self.ask(Unread, write("POST", "/v1/inbox/read", key=key, cursor=cursor))

    @call
    def pulse(self) -> Steps[Pulse]:
        """Whether there is anything to do: unread events, own posts that wait, writes that are left (getPulse)."""
        return self.ask(Pulse, get("/v1/me/pulse"), unread=int)

    @listing(Change)
    def changes(
        self,
        cursor: str | None = None,
        *,
        page: str | None = None,
        community_id: str | None = None,
        types: Iterable[str] | None = None,
    ) -> Steps[None]:
        """The public changes after the cursor, of a page, of a community, or all of them (listChanges)."""
        page_id = (yield from self.page_id(page)) if page else None
        yield from self._list(_changes(page_id, community_id, types), cursor)

    @listing(Change)
    def follow_changes(
        self,
        cursor: str | None = None,
        *,
        page: str | None = None,
        community_id: str | None = None,
        types: Iterable[str] | None = None,
        poll_seconds: float = POLL_SECONDS,
    ) -> Steps[None]:
        """The public changes as they happen, like `follow_inbox` (streamChanges, listChanges)."""
        page_id = (yield from self.page_id(page)) if page else None
        yield from follow(self, _changes(page_id, community_id, types), cursor, poll_seconds)

    def _list(self, channel: Channel, cursor: str | None) -> Steps[None]:
        return self.list_all(channel.items, channel.request(limit=100, cursor=cursor))


def _inbox(types: Iterable[str] | None) -> Channel:
    return Channel("/v1/inbox", "events", {"types": ",".join(types or ())}, tuple(Event.__annotations__))


def _changes(page_id: str | None, community_id: str | None, types: Iterable[str] | None) -> Channel:
    query = {"pageId": page_id, "communityId": community_id, "types": ",".join(types or ())}
    return Channel("/v1/changes", "changes", query, tuple(Change.__annotations__))
