"""Who moderates a community, who is banned from it, its closed and pinned posts, and what moderators have decided."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from kernel.admin.actions import REASON_MAX
from kernel.api.ids import new_id
from messaging.models.account import Account
from messaging.models.community import Community
from messaging.models.message import Message
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
