"""Who moderates a community, who is banned from it, its closed and pinned posts, and what moderators have decided.

Reasons that are offered to those who decide, and that super admins edit.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from kernel.admin.actions import REASON_MAX
from kernel.api.ids import new_id
from messaging.models.account import Account
from messaging.models.community import Community
from messaging.models.message import Message, MessageQuerySet, MessageStatus
from messaging.models.page import PAGE_ID_MAX, Page

# The creator of a community and those whom moderators have added.
MODERATORS_MAX = 50
# Open reports of a post in a queue, the first ones.
REPORTS_SHOWN_MAX = 20
# Pins of a community on a page.
PINS_MAX = 3
# Enough for a number that a reader sees: counting ends there, however many posts wait.
COUNTED_MAX = 100


class QueueState(models.TextChoices):
    """Posts that wait for approval, or that have open reports."""

    PENDING = "pending"
    REPORTED = "reported"


class Moderator(models.Model):
    """A person who decides on the posts of a community. Super admins moderate every community without such a row."""

    community = models.ForeignKey(Community, on_delete=models.CASCADE, db_index=False, related_name="moderators")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="moderates")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # The last event of a kind in their inbox (see `messaging.inbox.events`). Null: none yet.
    told_of_pending_at = models.DateTimeField(null=True, editable=False)
    told_of_reports_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [models.UniqueConstraint(fields=["community", "account"], name="one_moderator")]

    def __str__(self) -> str:
        return str(self.account)


class Ban(models.Model):
    """An account that may not write in a community. The ban of a person applies to the agents they operate."""

    community = models.ForeignKey(Community, on_delete=models.CASCADE, db_index=False, related_name="bans")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="bans")
    reason = models.CharField(max_length=REASON_MAX, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["community", "account"], name="one_ban")]

    def __str__(self) -> str:
        return str(self.account)


class ClosedPage(models.Model):
    """A page on which a community has closed its discussion: its posts can be read there, and no more are written."""

    community = models.ForeignKey(Community, on_delete=models.CASCADE, related_name="closed_pages")
    # The unique index begins with the page, whose deletion looks for the rows.
    page = models.ForeignKey(Page, on_delete=models.CASCADE, db_index=False, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["page", "community"], name="one_closing")]

    def __str__(self) -> str:
        return str(self.page)


class Pin(models.Model):
    """A post that its community shows first on its page. It is shown while the post is public."""

    community = models.ForeignKey(Community, on_delete=models.CASCADE, related_name="pins")
    # A copy of the page of the post, for the limit and for the list.
    page = models.ForeignKey(Page, on_delete=models.CASCADE, db_index=False, related_name="+")
    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="pin")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index("page", "community", F("id").desc(), name="pins_of_page")]

    def __str__(self) -> str:
        return str(self.message)


class HiddenHere(models.Model):
    """A post of others that the widgets of this community do not show, nor the replies to it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    community = models.ForeignKey(Community, on_delete=models.CASCADE, db_index=False, related_name="hidden_here")
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="hidden_by")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["community", "message"], name="hidden_once")]

    def __str__(self) -> str:
        return str(self.message)


class Act(models.TextChoices):
    APPROVED = "approved"
    HIDDEN = "hidden"
    RESTORED = "restored"
    DISMISSED = "dismissed", "reports dismissed"
    BANNED = "banned"
    UNBANNED = "unbanned", "ban lifted"
    ADDED = "added", "moderator added"
    REMOVED = "removed", "moderator removed"
    CHANGED = "changed", "rules changed"
    CREATED = "created", "community created"
    UNDONE = "undone", "import removed"
    EXCLUDED = "excluded", "hidden on the site's pages"
    INCLUDED = "included", "shown on the site's pages"
    ENDED = "ended", "widget ended"
    CLOSED = "closed", "discussion closed"
    REOPENED = "reopened", "discussion reopened"
    PINNED = "pinned"
    UNPINNED = "unpinned"


class Decision(models.Model):
    """What a moderator has decided, for the moderators of the community. The admin has its own log of the same."""

    community = models.ForeignKey(Community, on_delete=models.CASCADE, db_index=False, related_name="decisions")
    act = models.CharField(max_length=9, choices=Act)
    by = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, related_name="+")
    message = models.ForeignKey(Message, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    account = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    # The page whose discussion was closed or reopened. No foreign key: the page may be pruned.
    page_id = models.CharField(max_length=PAGE_ID_MAX, null=True, blank=True)  # noqa: DJ001  null: about no page
    # The columns of the community that were changed.
    columns = ArrayField(models.CharField(max_length=32), default=list, blank=True)
    reason = models.CharField(max_length=REASON_MAX, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index("community", F("id").desc(), name="decisions_of_community")]
        constraints = [models.CheckConstraint(condition=Q(act__in=Act.values), name="decision_act_known")]

    def __str__(self) -> str:
        return f"{self.get_act_display()} by {self.by}"


def moderated_by(account: Account) -> models.QuerySet[Community]:
    """The communities that the account moderates: all of them for a super admin."""
    communities = Community.objects.all()
    if account.is_superuser:
        return communities
    return communities.filter(Exists(Moderator.objects.filter(community=OuterRef("pk"), account=account)))


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


# A number key chooses one.
OFFERED_MAX = 9


class ReasonFor(models.TextChoices):
    REQUEST = "request", "rejecting an agent request"
    POST = "post", "hiding a post"


# The first ones of a new database. Each is shown in the reader's language while it is not edited.
DEFAULTS = {
    ReasonFor.REQUEST: (
        gettext_noop("The purpose does not say what the agent writes, and for whom. Describe it, and ask again."),
        gettext_noop("The handle can be mistaken for another one. Choose another handle, and ask again."),
        gettext_noop("It asks for more permissions or communities than the purpose needs. Ask for fewer."),
        gettext_noop("Advertising is not welcome here."),
        gettext_noop("You have an agent with this purpose already."),
        gettext_noop("The website does not exist, or says nothing about the agent."),
    ),
    ReasonFor.POST: (
        gettext_noop("Spam or advertising."),
        gettext_noop("Insults or threatens people."),
        gettext_noop("Off topic on this page."),
        gettext_noop("Not legal here."),
        gettext_noop("Contains private data of another person."),
    ),
}


class ReadyReason(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    of = models.CharField("for", max_length=7, choices=ReasonFor)
    position = models.PositiveSmallIntegerField(default=0, help_text="The lowest number is offered first.")
    text = models.CharField(max_length=REASON_MAX, help_text="The person that it is about can read it.")
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["of", "position", "text"]
        verbose_name = "ready reason"
        constraints = [
            models.CheckConstraint(condition=Q(of__in=ReasonFor.values), name="ready_reason_for_known"),
            models.UniqueConstraint(fields=["of", "text"], name="one_ready_reason_of_a_text"),
        ]

    def __str__(self) -> str:
        return self.text


def reasons_for(what: ReasonFor) -> list[str]:
    """The texts that are offered, in the active language as far as they are not edited. One query."""
    rows = ReadyReason.objects.filter(of=what).order_by("position", "text").values_list("text", flat=True)
    return [gettext(text) for text in rows[:OFFERED_MAX]]
