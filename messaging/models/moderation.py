"""Who moderates a community, who is banned from it, and what moderators have decided."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from config.admin.actions import REASON_MAX
from config.api.ids import new_id
from messaging.models.account import Account
from messaging.models.community import Community
from messaging.models.message import Message

# The creator of a community and those whom moderators have added.
MODERATORS_MAX = 50
# Open reports of a post in a queue, the first ones.
REPORTS_SHOWN_MAX = 20


class QueueState(models.TextChoices):
    """Posts that wait for approval, or that have open reports."""

    PENDING = "pending"
    REPORTED = "reported"


class Moderator(models.Model):
    """A person who decides on the posts of a community. Super admins moderate every community without such a row."""

    community = models.ForeignKey(Community, on_delete=models.CASCADE, db_index=False, related_name="moderators")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="moderates")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

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


class Decision(models.Model):
    """What a moderator has decided, for the moderators of the community. The admin has its own log of the same."""

    community = models.ForeignKey(Community, on_delete=models.CASCADE, db_index=False, related_name="decisions")
    act = models.CharField(max_length=9, choices=Act)
    by = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, related_name="+")
    message = models.ForeignKey(Message, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    account = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
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
