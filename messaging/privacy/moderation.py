"""What a person is and has done as a moderator, for their export, and its erasure; and what other decisions say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib.admin.models import LogEntry
from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from kernel.changes.models import Change
from kernel.changes.personal_data import erase_reasons
from kernel.personal_data import Section, Subject
from messaging.changes.types import InboxType
from messaging.models import Act, Ban, BulkJob, Community, Decision, Message, Moderator, ReadyReason, SavedList, Webhook
from messaging.privacy.exporters import table

BATCH = 1_000


def sections(account_id: UUID) -> Iterable[Section]:
    created = Community.objects.filter(created_by=account_id)
    yield table("communities", "The communities that you have created.", created, ("id", "name", "slug", "created_at"))
    moderated = Moderator.objects.filter(account=account_id)
    yield table("moderated", "The communities that you moderate.", moderated, ("community_id", "created_at"))
    bans = Ban.objects.filter(account=account_id)
    # The reason is a note among moderators.
    yield table("bans", "The communities in which you may not write.", bans, ("community_id", "created_at"))
    columns = ("community_id", "act", "message_id", "account_id", "page_id", "columns", "reason", "created_at")
    yield table("decisions", "Your decisions as a moderator.", Decision.objects.filter(by=account_id), columns)


def erase(subject: Subject) -> int:
    """The reasons of decisions by the accounts or about them, also in the inboxes of the authors whom they told.

    The rest of their rows is deleted with the accounts.

    `posts.erase` has erased those of decisions about their posts.
    """
    ids = subject.account_ids
    # In batches, and before the decisions have no reasons any more.
    if told := erase_reasons(with_reasons_of(subject, Change.objects.filter(type=InboxType.MODERATED))):
        return told
    banned = Decision.objects.filter(
        act=Act.BANNED, by__in=ids, community=OuterRef("community"), account=OuterRef("account")
    )
    Ban.objects.exclude(reason="").filter(Exists(banned)).update(reason="")
    concerned = Decision.objects.filter(Q(by__in=ids) | Q(account__in=ids))
    batch = concerned.exclude(reason="").order_by("pk").values("pk")[:BATCH]
    return Decision.objects.filter(pk__in=batch).update(reason="")


def with_reasons_of(subject: Subject, events: QuerySet[Any], *, account: str = "account_id") -> QuerySet[Any]:
    """Those of the events for authors whose reason the accounts wrote. `account`: the column of who gets the event."""
    about = Q(message=OuterRef("message_id")) | Q(message=None, account=OuterRef(account))
    decisions = Decision.objects.filter(about, by__in=subject.account_ids, reason=OuterRef("told"))
    # A super admin's decision on a post without a community is in the history of the admin alone.
    entries = LogEntry.objects.filter(
        user__in=subject.account_ids,
        object_id=Cast(OuterRef("message_id"), TextField()),
        change_message__contains=OuterRef("told"),
    )
    told: QuerySet[Any] = events.annotate(told=KT("data__reason")).exclude(told="")
    return told.filter(Exists(decisions) | Exists(entries))


def erase_mentions(subject: Subject) -> int:
    """The reasons of decisions about others, and ready ones, that mention the person; saved lists that search for it.

    Also the reasons of the jobs of a super admin, which stay without a name.
    """
    is_mention = Q(reason__regex=subject.mentions)
    erased = sum(model.objects.filter(is_mention).update(reason="") for model in (Ban, Decision))
    of_subject = BulkJob.objects.exclude(reason="").filter(is_mention | Q(by__in=subject.account_ids))
    erased += of_subject.update(reason="")
    erased += ReadyReason.objects.filter(text__regex=subject.mentions).delete()[0]
    erased += Webhook.objects.filter(disabled_details__regex=subject.mentions).update(disabled_details="")
    return erased + SavedList.objects.filter(_searches_for(subject)).delete()[0]


def _searches_for(subject: Subject) -> Q:
    """Saved lists that search for a handle. In that of posts, only a word with `@` is one."""
    search = rf"(^|&)q=([^&]*([^&a-z0-9_]|%[0-9a-f]{{2}}))?({subject.any_handle})\y"
    mention = rf"(^|&)q=[^&]*(@|%40)({subject.any_handle})\y"
    in_others = ~Q(of=Message._meta.label_lower) & Q(query__iregex=search)
    # A query is part of a URL.
    return in_others | Q(query__iregex=mention) | Q(name__iregex=subject.mentions)
