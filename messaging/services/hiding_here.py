"""Moderators hide posts of others on the pages of their site alone, where a widget shows the posts of everyone."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from kernel.api.exceptions import InvalidInput
from kernel.cache.versions import invalidate
from kernel.writes.retries import retried
from messaging.cache_tags import SHOWN
from messaging.exceptions import MessageNotFound
from messaging.models import Account, Act, HiddenHere, Message
from messaging.services.decisions import log_about_community
from messaging.services.moderators import moderated_community


@retried
@transaction.atomic
def hide_here(*, community_id: UUID, message_id: UUID, by: Account, reason: str = "") -> HiddenHere:
    """Hide a post and the replies to it in the widgets of the community. Repeated, it changes nothing.

    Raises CommunityNotFound (404), ModeratorRequired (403), InvalidInput (400) for a post of the community, which its
    moderators hide everywhere, or MessageNotFound (404) for one that readers do not see: nobody learns of it here.
    """
    community = moderated_community(community_id=community_id, by=by, lock=True)
    message = Message.objects.filter(pk=message_id).first()
    if message is not None and message.community_id == community_id:
        raise InvalidInput("Hide this post with hideMessage: it is of your community.", field="messageId")
    if message is None or message.in_hidden_thread or not (message.is_public or message.is_tombstone):
        raise MessageNotFound
    hidden, is_new = HiddenHere.objects.get_or_create(community=community, message=message)
    if is_new:
        verb = f"Hidden on the pages of {community}"
        log_about_community(community, Act.EXCLUDED, by=by, verb=verb, reason=reason, message=message)
        invalidate(SHOWN)
    return hidden


@retried
@transaction.atomic
def show_here(*, community_id: UUID, message_id: UUID, by: Account, reason: str = "") -> None:
    """Undo `hide_here`. Raises CommunityNotFound or MessageNotFound (404), ModeratorRequired (403)."""
    community = moderated_community(community_id=community_id, by=by, lock=True)
    hidden = HiddenHere.objects.select_related("message").filter(community=community, message=message_id).first()
    if hidden is None:
        raise MessageNotFound
    hidden.delete()
    verb = f"Shown again on the pages of {community}"
    log_about_community(community, Act.INCLUDED, by=by, verb=verb, reason=reason, message=hidden.message)
    invalidate(SHOWN)
