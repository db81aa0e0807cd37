from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from messaging.models.account import Account
from messaging.models.message import Message, MessageQuerySet, MessageStatus

NOTE_MAX = 500
REPORTABLE = (MessageStatus.PUBLISHED, MessageStatus.PENDING)


class ReportReason(models.TextChoices):
    SPAM = "spam"
    ABUSE = "abuse"
    OFF_TOPIC = "off_topic"
    ILLEGAL = "illegal"
    OTHER = "other"


class Report(models.Model):
    """A person's report of a post. It is open until a moderator decides on the post."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, db_index=False, related_name="reports")
    # A copy of that of the post, which never changes. Set by a trigger (see migration 0038).
    community_id = models.UUIDField(null=True, editable=False)
    reporter = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="reports")
    reason = models.CharField(max_length=9, choices=ReportReason)
    note = models.CharField(max_length=NOTE_MAX, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Closed without a decision on the post, so that this can be undone.
    dismissed = models.BooleanField(db_default=False, editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index("message", condition=Q(closed_at=None), name="open_reports"),
            models.Index("community_id", "message", condition=Q(closed_at=None), name="open_reports_of_community"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["message", "reporter"], name="one_report_of_a_post"),
            models.CheckConstraint(condition=Q(reason__in=ReportReason.values), name="report_reason_known"),
        ]

    def __str__(self) -> str:
        return f"{self.reason} by {self.reporter}"


def open_reports() -> models.QuerySet[Report]:
    """The reports on which no moderator has decided."""
    return Report.objects.filter(closed_at=None)


def dismissed_reports() -> models.QuerySet[Report]:
    """The reports that a moderator has closed without a decision on the post."""
    return Report.objects.filter(dismissed=True, closed_at__isnull=False)


def reported_posts(posts: MessageQuerySet, communities: Collection[UUID] | None = None) -> MessageQuerySet:
    """Those of `posts` that have open reports and are not hidden or deleted yet; only of these communities."""
    reports = open_reports().filter(message=OuterRef("pk"))
    if communities is not None:
        posts, reports = posts.filter(community__in=communities), reports.filter(community_id__in=communities)
    return posts.filter(Exists(reports), status__in=REPORTABLE)
