"""Write posts and react to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from community_messaging.declarations import call
from community_messaging.errors import ServiceError
from community_messaging.records import (
    Attachment,
    DeletedMessage,
    DryRun,
    Message,
    ReactionResult,
    RemovedReaction,
    Reported,
)
from community_messaging.requests import get, write
from community_messaging.session import Session
from community_messaging.steps import Steps


class PostFields(TypedDict, total=False):
    """The optional fields of a post. `tag_type` with `payload` makes it a smart tag."""

    community_id: str | None
    tag_type: str | None
    payload: dict[str, Any] | None
    anchor_text: str | None
    context_anchor: dict[str, Any] | None
    attachments: Sequence[Attachment] | None
    language: str | None
    source_app: str | None


class PostCalls(Session):
    """`key` is the Idempotency-Key. Without it the client makes one, which all attempts of a call share."""

    @call
    def post(
        self, page: str, content: str | None = None, *, key: str | None = None, **fields: Unpack[PostFields]
    ) -> Steps[Message]:
        """Post on a page, given by its URL or page id (createMessage)."""
        page_id = yield from self.page_id(page)
        return (yield from self._create(key, page_id=page_id, content=content, **fields))

    @call
    def reply(
        self, message_id: str, content: str | None = None, *, key: str | None = None, **fields: Unpack[PostFields]
    ) -> Steps[Message]:
        """Reply to a post, in its community (createMessage)."""
        parent = yield from self._message(message_id)
        place = {"page_id": parent["pageId"], "community_id": parent.get("communityId"), "parent_id": message_id}
        return (yield from self._create(key, content=content, **(place | fields)))

    @call
    def quote(
        self,
        message_id: str,
        content: str | None = None,
        *,
        page: str | None = None,
        parent_id: str | None = None,
        key: str | None = None,
        **fields: Unpack[PostFields],
    ) -> Steps[Message]:
        """Quote a post, on its page and in its community unless others are given (createMessage).

        A reply is in the community of its parent.
        """
        quoted = yield from self._message(message_id)
        page_id = yield from self.page_id(page or quoted["pageId"])
        place = {"page_id": page_id, "quote_id": message_id, "parent_id": parent_id}
        if page_id == quoted["pageId"] and parent_id is None:
            place["community_id"] = quoted.get("communityId")
        return (yield from self._create(key, content=content, **(place | fields)))

    @call
    def dry_run(
        self,
        page: str,
        content: str | None = None,
        *,
        parent_id: str | None = None,
        quote_id: str | None = None,
        **fields: Unpack[PostFields],
    ) -> Steps[DryRun]:
        """Check a post as the service would, without writing it (checkMessage).

        Raises the refusal that the post would get.
        """
        page_id = yield from self.page_id(page)
        request = write(
            "POST",
            "/api/messages/check",
            key=None,
            page_id=page_id,
            content=content,
            parent_id=parent_id,
            quote_id=quote_id,
            **fields,
        )
        try:
            return (yield from self.ask(DryRun, request, wouldBe=str))
        except ServiceError as error:
            error.key = None  # There is no write to repeat.
            raise

    @call
    def edit(
        self,
        message_id: str,
        content: str | None = None,
        *,
        payload: dict[str, Any] | None = None,
        anchor_text: str | None = None,
        language: str | None = None,
        key: str | None = None,
    ) -> Steps[Message]:
        """Change a post of your own; what is not given stays as it is (editMessage)."""
        return self.ask(
            Message,
            write(
                "PUT",
                "/api/messages/{id}",
                message_id,
                key=key,
                content=content,
                payload=payload,
                anchor_text=anchor_text,
                language=language,
            ),
            id=str,
        )

    @call
    def delete(self, message_id: str, *, key: str | None = None) -> Steps[DeletedMessage]:
        """Delete a post of your own (deleteMessage)."""
        return self.ask(DeletedMessage, write("DELETE", "/api/messages/{id}", message_id, key=key), deleted=bool)

    @call
    def report(
        self, message_id: str, reason: str, *, note: str | None = None, key: str | None = None
    ) -> Steps[Reported]:
        """Report a post to the moderators, as a person: spam, abuse, off_topic, illegal or other (reportMessage)."""
        body = {"reason": reason, "note": note}
        return self.ask(Reported, write("POST", "/api/messages/{id}/report", message_id, key=key, **body))

    @call
    def react(self, message_id: str, emoji: str, *, key: str | None = None) -> Steps[ReactionResult]:
        """Set your reaction to a post; it replaces an earlier one (addReaction)."""
        body = {"message_id": message_id, "emoji": emoji, "toggle": False}
        return self.ask(ReactionResult, write("POST", "/v1/reactions", key=key, **body), action=str)

    @call
    def unreact(self, message_id: str, *, key: str | None = None) -> Steps[RemovedReaction | None]:
        """Remove your reaction to a post (removeReaction). None: you have none among your newest 1,000 on its page."""
        message = yield from self._message(message_id)
        own = yield from self.ask(dict, get("/v1/me/reactions", page_id=message["pageId"]), reactions=list)
        for reaction in own["reactions"]:
            if reaction["messageId"] == message["id"]:
                request = write("DELETE", "/v1/reactions/{id}", reaction["reactionId"], key=key)
                return (yield from self.ask(RemovedReaction, request, action=str))
        return None

    def _message(self, message_id: str) -> Steps[Message]:
        return self.ask(Message, get("/api/messages/{id}", message_id), id=str, pageId=str)

    def _create(self, key: str | None, **body: Any) -> Steps[Message]:
        return self.ask(Message, write("POST", "/api/messages", key=key, **body), id=str)
