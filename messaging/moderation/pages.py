"""What moderators decide about a page of their site: posts of others that are hidden there alone, and pinned posts.

Hiding here is for widgets that show the posts of everyone. Lists of a community show its pinned posts first. All
changes of pins lock the row of the community, so that a community has at most PINS_MAX pins on a page. A pin stays
while its post is hidden or waits for approval, and is shown again with the post; it makes room for a new pin then.
"""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from kernel.api.exceptions import InvalidInput
from kernel.cache.versions import invalidate
from kernel.writes.transaction import retried
from messaging.cache_tags import SHOWN, message_tag, page_tag
from messaging.communities.moderators import moderated_community, require_moderator_of_post
from messaging.models import Account, Act, Community, HiddenHere, Message, MessageStatus, Pin
from messaging.models.moderation import PINS_MAX
from messaging.moderation.decisions import log_about_community, log_about_post
from messaging.moderation.exceptions import NotPinnable, PinNotFound, TooManyPins
from messaging.posts.exceptions import MessageNotFound, NotInThisState
from messaging.posts.rights import locked_post


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


@retried
@transaction.atomic
def pin_message(*, message_id: UUID, by: Account, reason: str = "") -> Pin:
    """Pin a published post of a community. Repeated, it changes nothing.

    Raises MessageNotFound (404), ModeratorRequired (403), NotPinnable (409) for a reply or a post without a community,
    NotInThisState (409) for one that is not published, TooManyPins (409).
    """
    _lock(message_id, by=by)
    # Locked against hiding and moving.
    post = locked_post(message_id)
    if post.community_id is None or post.parent_id is not None:
        raise NotPinnable
    if post.status != MessageStatus.PUBLISHED:
        raise NotInThisState(status=post.status)
    pins = list(Pin.objects.select_related("message").filter(page=post.page_id, community=post.community_id))
    for pin in pins:
        if pin.message_id == post.pk:
            return pin
    if len(pins) >= PINS_MAX:
        _make_room(pins)
    pin = Pin.objects.create(community_id=post.community_id, page_id=post.page_id, message=post)
    log_about_post(post, Act.PINNED, by=by, verb="Pinned", reason=reason)
    _invalidate(post)
    return pin


@retried
@transaction.atomic
def unpin_message(*, message_id: UUID, by: Account, reason: str = "") -> None:
    """Raises MessageNotFound or PinNotFound (404), ModeratorRequired (403)."""
    _lock(message_id, by=by)
    pin = Pin.objects.select_related("message").filter(message=message_id).first()
    if pin is None:
        raise PinNotFound
    pin.delete()
    log_about_post(pin.message, Act.UNPINNED, by=by, verb="Unpinned", reason=reason)
    _invalidate(pin.message)


def _lock(message_id: UUID, *, by: Account) -> None:
    """The row of the community, before the post; a post never changes its community."""
    require_moderator_of_post(message_id=message_id, by=by)
    of_post = Message.objects.filter(pk=message_id).values("community")
    list(Community.objects.select_for_update(no_key=True).filter(pk__in=of_post))


def _make_room(pins: list[Pin]) -> None:
    """Deletes the oldest pin that is not shown; raises TooManyPins (409) if all are."""
    unseen = [pin for pin in pins if pin.message.status != MessageStatus.PUBLISHED]
    if not unseen:
        raise TooManyPins(max=PINS_MAX)
    min(unseen, key=lambda pin: pin.pk).delete()


def _invalidate(post: Message) -> None:
    invalidate(page_tag(post.page_id), message_tag(post.pk), SHOWN)
