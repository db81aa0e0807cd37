"""Create communities and moderate them, as a person."""

from __future__ import annotations

from collections.abc import Sequence

from community_messaging.declarations import call, listing
from community_messaging.records import (
    Ban,
    Community,
    CommunityEmbed,
    Decided,
    Discussion,
    EndedEmbed,
    Hidden,
    ModeratedCommunity,
    ModeratedMessage,
    Moderator,
    Pinned,
    RuleChanges,
)
from community_messaging.requests import get, write
from community_messaging.session import Session
from community_messaging.steps import Steps


class ModerationCalls(Session):
    @call
    def create_community(self, name: str, *, slug: str | None = None, key: str | None = None) -> Steps[Community]:
        """Create a community, which you moderate (createCommunity)."""
        return self.ask(Community, write("POST", "/v1/communities", key=key, name=name, slug=slug))

    @listing(ModeratedMessage)
    def moderation_queue(
        self,
        community_id: str | None = None,
        *,
        state: str | None = None,
        page: str | None = None,
        page_size: int | None = None,
    ) -> Steps[None]:
        """The posts that wait for your decision: `pending` ones, or `reported` ones (listModerationQueue)."""
        page_id = (yield from self.page_id(page)) if page else None
        query = {"community_id": community_id, "page_id": page_id, "state": state, "limit": page_size}
        request = get("/v1/moderation/queue", **query)
        yield from self.list_all("messages", request)

    @call
    def approve_message(
        self,
        message_id: str,
        *,
        reason: str | None = None,
        seen_updated_at: str | None = None,
        key: str | None = None,
    ) -> Steps[Decided]:
        """Publish a pending post, or close the reports of a published one (approveMessage).

        With `seen_updated_at`, the `updatedAt` of the post as it was read, one that was edited since is refused. A
        service without that field ignores it.
        """
        body = {"reason": reason, "seen_updated_at": seen_updated_at}
        return self.ask(Decided, write("POST", "/v1/moderation/messages/{id}/approve", message_id, key=key, **body))

    @call
    def hide_message(self, message_id: str, *, reason: str | None = None, key: str | None = None) -> Steps[Decided]:
        """Hide a post with the replies to it (hideMessage)."""
        request = write("POST", "/v1/moderation/messages/{id}/hide", message_id, key=key, reason=reason)
        return self.ask(Decided, request)

    @call
    def restore_message(
        self, message_id: str, *, reason: str | None = None, undo: bool | None = None, key: str | None = None
    ) -> Steps[Decided]:
        """Publish a hidden post again; with `undo`, give it the status of before (restoreMessage)."""
        body = {"reason": reason, "undo": undo}
        return self.ask(Decided, write("POST", "/v1/moderation/messages/{id}/restore", message_id, key=key, **body))

    @call
    def pin_message(self, message_id: str, *, reason: str | None = None, key: str | None = None) -> Steps[Pinned]:
        """Show a post first on its page (pinMessage)."""
        request = write("POST", "/v1/moderation/messages/{id}/pin", message_id, key=key, reason=reason)
        return self.ask(Pinned, request)

    @call
    def unpin_message(self, message_id: str, *, key: str | None = None) -> Steps[Pinned]:
        """Show a post in its place again (unpinMessage)."""
        return self.ask(Pinned, write("DELETE", "/v1/moderation/messages/{id}/pin", message_id, key=key))

    @call
    def close_discussion(
        self, community_id: str, page_id: str, *, reason: str | None = None, key: str | None = None
    ) -> Steps[Discussion]:
        """Take no more posts of a community on a page (closeDiscussion)."""
        body = {"page_id": page_id, "reason": reason}
        request = write("POST", "/v1/moderation/communities/{id}/closed", community_id, key=key, **body)
        return self.ask(Discussion, request)

    @call
    def reopen_discussion(self, community_id: str, page_id: str, *, key: str | None = None) -> Steps[Discussion]:
        """Take posts of a community on a page again (reopenDiscussion)."""
        ids = (community_id, page_id)
        request = write("DELETE", "/v1/moderation/communities/{id}/closed/{pageId}", *ids, key=key)
        return self.ask(Discussion, request)

    @call
    def update_community(
        self,
        community_id: str,
        *,
        blocked_words: Sequence[str] | None = None,
        rules: RuleChanges | None = None,
        key: str | None = None,
    ) -> Steps[ModeratedCommunity]:
        """Change the blocked words, which replace the former ones, and rules (updateCommunity)."""
        body = {"blocked_words": None if blocked_words is None else list(blocked_words), "rules": rules}
        request = write("PUT", "/v1/moderation/communities/{id}", community_id, key=key, **body)
        return self.ask(ModeratedCommunity, request)

    @call
    def add_moderator(self, community_id: str, handle: str, *, key: str | None = None) -> Steps[Moderator]:
        """Let a person moderate a community (addModerator)."""
        request = write("POST", "/v1/moderation/communities/{id}/moderators", community_id, key=key, handle=handle)
        return self.ask(Moderator, request)

    @call
    def remove_moderator(self, community_id: str, account_id: str, *, key: str | None = None) -> Steps[None]:
        """End the moderation of a person, or your own (removeModerator)."""
        ids = (community_id, account_id)
        request = write("DELETE", "/v1/moderation/communities/{id}/moderators/{accountId}", *ids, key=key)
        yield from self.ask(dict, request)

    @call
    def ban(self, community_id: str, account_id: str, reason: str, *, key: str | None = None) -> Steps[Ban]:
        """Ban an account, and the agents that it operates, from a community (banAccount)."""
        body = {"account_id": account_id, "reason": reason}
        return self.ask(Ban, write("POST", "/v1/moderation/communities/{id}/bans", community_id, key=key, **body))

    @call
    def lift_ban(self, community_id: str, account_id: str, *, key: str | None = None) -> Steps[None]:
        """Lift a ban (liftBan)."""
        ids = (community_id, account_id)
        yield from self.ask(dict, write("DELETE", "/v1/moderation/communities/{id}/bans/{accountId}", *ids, key=key))

    @listing(Hidden)
    def hidden_here(self, community_id: str, *, page_size: int | None = None) -> Steps[None]:
        """The posts of others that the widgets of a community do not show (listHiddenHere)."""
        request = get("/v1/moderation/communities/{id}/hidden", community_id, limit=page_size)
        return self.list_all("hidden", request)

    @call
    def hide_here(
        self, community_id: str, message_id: str, *, reason: str | None = None, key: str | None = None
    ) -> Steps[Hidden]:
        """Hide a post of others, with the replies to it, in the widgets of a community (hideHere)."""
        body = {"message_id": message_id, "reason": reason}
        return self.ask(Hidden, write("POST", "/v1/moderation/communities/{id}/hidden", community_id, key=key, **body))

    @call
    def show_here(self, community_id: str, message_id: str, *, key: str | None = None) -> Steps[None]:
        """Show such a post again (showHere)."""
        ids = (community_id, message_id)
        request = write("DELETE", "/v1/moderation/communities/{id}/hidden/{messageId}", *ids, key=key)
        yield from self.ask(dict, request)

    @listing(CommunityEmbed)
    def community_embeds(self, community_id: str, *, page_size: int | None = None) -> Steps[None]:
        """The widgets of a community, those of others too (listCommunityEmbeds)."""
        request = get("/v1/moderation/communities/{id}/embeds", community_id, limit=page_size)
        yield from self.list_all("embeds", request)

    @call
    def end_embed(
        self, community_id: str, embed_id: str, *, reason: str | None = None, key: str | None = None
    ) -> Steps[EndedEmbed]:
        """End a widget of a community, which cannot be undone (endCommunityEmbed)."""
        ids, body = (community_id, embed_id), {"reason": reason}
        request = write("POST", "/v1/moderation/communities/{id}/embeds/{embedId}/end", *ids, key=key, **body)
        return self.ask(EndedEmbed, request)
