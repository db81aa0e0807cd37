"""What the pages of a person's own posts and reactions read: a page of rows by their ids, which are in time order."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from embeds.schemes import addresses_of
from messaging.models import Account, Message, MessageStatus
from messaging.posts.rights import EDITABLE
from reactions.models import Reaction

PAGE = 20


class Listed(NamedTuple):
    """Rows, newest first, and the id after which the next page begins; None on the last page."""

    rows: list[Any]
    before: UUID | None


def locked_person(account_id: UUID) -> Account:
    """The person's row, until the end of the transaction."""
    return Account.objects.select_for_update(no_key=True).get(pk=account_id)


def own_posts(account: Account, *, words: str, before: UUID | None) -> Listed:
    posts = Message.objects.filter(author=account).exclude(status=MessageStatus.DELETED).select_related("page")
    if words:
        posts = posts.filter(content__icontains=words)
    listed = _page(posts, before)
    addresses = addresses_of({(post.community_id, post.page.normalized_url) for post in listed.rows})
    for post in listed.rows:
        post.is_editable = is_editable(post)
        post.page_address = addresses[post.community_id, post.page.normalized_url]
    return listed


def own_post(account: Account, message_id: UUID) -> Message:
    """Raises Http404 for a post of another account, and for one that its author can change no more."""
    posts = Message.objects.filter(author=account, status__in=EDITABLE).select_related("page")
    post = posts.filter(pk=message_id).first()
    if post is None:
        raise Http404
    return post


def own_reactions(account: Account, *, before: UUID | None) -> Listed:
    reactions = Reaction.objects.filter(account=account).select_related("message__page", "message__author")
    return _page(reactions, before)


def is_editable(post: Message) -> bool:
    """By the clock of this host; the service decides by that of the database."""
    is_recent = timezone.now() < post.created_at + timedelta(minutes=settings.EDIT_MINUTES)
    return post.status in EDITABLE and is_recent


def _page(rows: QuerySet[Any], before: UUID | None) -> Listed:
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows.order_by("-pk")[: PAGE + 1])
    return Listed(found[:PAGE], found[PAGE - 1].pk if len(found) > PAGE else None)
