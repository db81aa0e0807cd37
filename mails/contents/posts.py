"""Mails about posts: answers, mentions, and what waits for moderators."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from mails import places
from mails.contents.parts import Content, Item, Quote, one_line
from mails.drafts import draft_url
from mails.models import Notice
from messaging.changes.types import InboxType
from messaging.models import Account, AccountKind, Message, MessageStatus, OperatorReview
from messaging.models.message import DRAFT, MessageQuerySet
from messaging.models.moderation import REPORTABLE, moderated_by
from messaging.pages.permalinks import permalink


def answers(account: Account, notices: Sequence[Notice]) -> Content:
    quoting = {notice.message_id for notice in notices if notice.type == InboxType.QUOTE}
    posts = _public(account, notices)
    items = [_answer(post, is_quote=post.pk in quoting) for post in posts]
    return Content(
        subject=_subject(
            items, ngettext("%(count)d answer to your posts", "%(count)d answers to your posts", len(items))
        ),
        reason=_("You get this mail because you have switched on mails about answers to your posts."),
        items=items,
        page_id=_page_of(posts),
    )


def mentions(account: Account, notices: Sequence[Notice]) -> Content:
    posts = _public(account, notices)
    items = [_mention(post) for post in posts]
    return Content(
        subject=_subject(items, ngettext("%(count)d post mentions you", "%(count)d posts mention you", len(items))),
        reason=_("You get this mail because you have switched on mails about posts that mention you."),
        items=items,
        page_id=_page_of(posts),
    )


def approvals(account: Account, notices: Sequence[Notice]) -> Content:
    """The posts of the person's agents that wait for the person still. Each link decides on the text of the mail."""
    found = _posts(notices).filter(
        status=MessageStatus.PENDING, operator_review=OperatorReview.WAITING, author__agent__operator=account
    )
    posts = list(found)
    items = [_approval(post, account) for post in posts]
    return Content(
        subject=_subject(items, ngettext("%(count)d post waits for you", "%(count)d posts wait for you", len(items))),
        reason=_("You get this mail because you review what this agent writes."),
        items=items,
        page_id=_page_of(posts),
    )


def moderation(account: Account, notices: Sequence[Notice]) -> Content:
    """Posts that wait for a decision still, of the communities that the person moderates still."""
    found = _posts(notices).filter(status__in=REPORTABLE).exclude(author=account).exclude(DRAFT)
    if not account.is_superuser:  # who also decides about posts without a community
        found = found.filter(community__in=moderated_by(account))
    counted = found.annotate(open=Count("reports", filter=Q(reports__closed_at=None)))
    posts = [post for post in counted if post.open or post.status == MessageStatus.PENDING]
    items = [_waiting(post, reports=post.open) for post in posts]
    return Content(
        subject=ngettext("%(count)d post waits for your decision", "%(count)d posts wait for your decision", len(items))
        % {"count": len(items)},
        reason=_("You get this mail because you moderate this community."),
        items=items,
        page_id=_page_of(posts),
    )


def reports(account: Account, notices: Sequence[Notice]) -> Content:
    """Posts of all communities with open reports; nothing for a person who is no super admin any more."""
    found = _posts(notices).filter(status__in=REPORTABLE) if account.is_superuser else Message.objects.none()
    counted = found.exclude(DRAFT).annotate(open=Count("reports", filter=Q(reports__closed_at=None)))
    posts = [post for post in counted if post.open]
    items = [_waiting(post, reports=post.open) for post in posts]
    return Content(
        subject=ngettext("%(count)d reported post", "%(count)d reported posts", len(items)) % {"count": len(items)},
        reason=_("You get this mail because you are a super admin."),
        items=items,
        page_id=_page_of(posts),
    )


def _page_of(posts: Sequence[Message]) -> str:
    """The page of all posts; empty if they are on several."""
    pages = {post.page_id for post in posts}
    return pages.pop() if len(pages) == 1 else ""


def _subject(items: Sequence[Item], of_several: str) -> str:
    """The sentence of a single item."""
    return items[0].sentence if len(items) == 1 else of_several % {"count": len(items)}


def _posts(notices: Sequence[Notice]) -> MessageQuerySet:
    ids = {notice.message_id for notice in notices if notice.message_id is not None}
    return Message.objects.filter(pk__in=ids).select_related("author", "page", "community").order_by("created_at", "id")


def _public(account: Account, notices: Sequence[Notice]) -> list[Message]:
    return [post for post in _posts(notices) if post.is_public and post.author_id != account.pk]


def _answer(post: Message, *, is_quote: bool) -> Item:
    names = _names(post)
    if is_quote:
        sentence = _("%(name)s quoted your post on %(site)s") % names
    else:
        sentence = _("%(name)s answered your post on %(site)s") % names
    return Item(sentence, permalink(post.pk), _("Read and answer"), Quote.of(post.content))


def _mention(post: Message) -> Item:
    sentence = _("%(name)s mentioned you on %(site)s") % _names(post)
    return Item(sentence, permalink(post.pk), _("Read and answer"), Quote.of(post.content))


def _approval(post: Message, operator: Account) -> Item:
    sentence = _("%(name)s wants to write on %(site)s") % _names(post)
    return Item(sentence, draft_url(operator.pk, post), _("Release or reject"), Quote.of(post.content))


def _waiting(post: Message, *, reports: int) -> Item:
    names = _names(post) | {"count": reports}
    if reports:
        text = ngettext(
            "A post by %(name)s on %(site)s has %(count)d report",
            "A post by %(name)s on %(site)s has %(count)d reports",
            reports,
        )
    else:
        text = _("A post by %(name)s on %(site)s waits for approval")
    return Item(text % names, places.moderation(post), _("Decide"), Quote.of(post.content))


def _names(post: Message) -> dict[str, str | int]:
    host = urlsplit(post.page.normalized_url).hostname or ""
    name = one_line(post.author.name)
    if post.author_kind == AccountKind.AGENT:
        name = _("%(name)s (agent)") % {"name": name}
    return {"name": name, "site": host}
