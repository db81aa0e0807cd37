"""The types of public changes and of inbox events."""

from __future__ import annotations

from enum import StrEnum


class ChangeType(StrEnum):
    """A public change. A pending post that is approved is `message.created`.

    If it was public before an edit, it was `message.hidden` then, and its approval is `message.restored`.
    `page.imported` is one change for all posts of a page that an import has added, or that its undoing has removed.
    """

    MESSAGE_CREATED = "message.created"
    MESSAGE_EDITED = "message.edited"
    MESSAGE_DELETED = "message.deleted"
    MESSAGE_HIDDEN = "message.hidden"
    MESSAGE_RESTORED = "message.restored"
    REACTION_ADDED = "reaction.added"
    REACTION_REPLACED = "reaction.replaced"
    REACTION_REMOVED = "reaction.removed"
    PAGE_IMPORTED = "page.imported"


# An import makes no event of a webhook.
WEBHOOK_CHANGES = frozenset(ChangeType) - {ChangeType.PAGE_IMPORTED}


class InboxType(StrEnum):
    """An event of an account's inbox."""

    REPLY = "reply"
    QUOTE = "quote"
    REACTION = "reaction"
    MENTION = "mention"
    MODERATED = "moderated"
    REQUEST_DECIDED = "request_decided"
    AGENT_NARROWED = "agent_narrowed"
    AGENT_FROZEN = "agent_frozen"
    POST_REPORTED = "post_reported"
    POST_PENDING = "post_pending"
    APPROVAL_NEEDED = "approval_needed"
    TOKEN_EXPIRING = "token_expiring"  # noqa: S105  a type, no secret


# Only a person moderates.
EVENTS_OF_AGENTS = frozenset(InboxType) - {InboxType.POST_REPORTED, InboxType.POST_PENDING}
