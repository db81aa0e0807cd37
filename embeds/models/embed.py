from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinLengthValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from embeds import domains
from kernel.api.ids import new_id
from messaging.models import Account, Community

NAME_MAX = 120
DESCRIPTION_MAX = 2_000
DOMAINS_MAX = 1_000
DOMAIN_MAX = domains.HOST_MAX + 8
WORDS_MAX = 500
WORD_MAX = 100
PATTERNS_MAX = 100
PATTERN_MAX = 512
TRIGGER_MESSAGE_MAX = 80
COLOR = re.compile(r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})\Z")


class EmbedStatus(models.TextChoices):
    """Owners pause an embed; super admins disable it."""

    ACTIVE = "active"
    PAUSED = "paused"
    DISABLED = "disabled"


class Shows(models.TextChoices):
    """Whose posts the widget shows."""

    COMMUNITY = "community"
    EVERYONE = "everyone"


class PageRuleType(models.TextChoices):
    """Show on every page, only on pages that match a pattern, or on all others."""

    ALL = "all"
    PATTERNS = "patterns"
    EXCLUDE = "exclude"


class TriggerType(models.TextChoices):
    CORNER_TAB = "corner-tab"
    BUBBLE = "bubble"
    INLINE = "inline"


class EmbedMode(models.TextChoices):
    """What `data-mode` in the code of a site says: a button that opens a panel, or the discussion in the page."""

    PANEL = "panel"
    INLINE = "inline"


class TriggerPosition(models.TextChoices):
    BOTTOM_RIGHT = "bottom-right"
    BOTTOM_LEFT = "bottom-left"
    TOP_RIGHT = "top-right"
    TOP_LEFT = "top-left"


class TriggerSize(models.TextChoices):
    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


def default_page_rules() -> dict[str, Any]:
    return {"type": PageRuleType.ALL.value, "patterns": []}


def default_trigger_config() -> dict[str, Any]:
    """With an empty message, the loader shows its default text in the reader's language.

    `mode`, an EmbedMode, is absent unless the owner chose the discussion in the page on the pages of the site. It
    decides which code is shown there, and is no field of the API: who writes the code sets the attribute in it.
    """
    return {
        "type": TriggerType.CORNER_TAB.value,
        "position": TriggerPosition.BOTTOM_RIGHT.value,
        "message": "",
        "color": "#2f5bd0",
        "size": TriggerSize.MEDIUM.value,
    }


class EmbedQuerySet(models.QuerySet["Embed"]):
    def live(self) -> EmbedQuerySet:
        return self.filter(deleted_at=None)

    def of_community(self, community_id: UUID) -> EmbedQuerySet:
        """Those that a moderator sees, with their owners."""
        return self.live().filter(community_id=community_id).select_related("owner")

    def owned_by(self, owner_id: UUID) -> EmbedQuerySet:
        return self.filter(owner_id=owner_id)


class Embed(models.Model):
    """A widget on a site owner's web pages, with a community. Deletion is soft: posts still reference the row."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(Account, on_delete=models.PROTECT, db_index=False, related_name="embeds")
    community = models.ForeignKey(Community, on_delete=models.PROTECT, related_name="embeds")
    name = models.CharField(max_length=NAME_MAX, validators=[MinLengthValidator(1)])
    description = models.TextField(blank=True, max_length=DESCRIPTION_MAX)
    domain_whitelist = ArrayField(models.CharField(max_length=DOMAIN_MAX), size=DOMAINS_MAX, default=list, blank=True)
    domain_blacklist = ArrayField(models.CharField(max_length=DOMAIN_MAX), size=DOMAINS_MAX, default=list, blank=True)
    page_rules = models.JSONField(default=default_page_rules)
    trigger_config = models.JSONField(default=default_trigger_config)
    status = models.CharField(max_length=8, choices=EmbedStatus, default=EmbedStatus.ACTIVE)
    # The status that a disabled embed gets when a super admin enables it: active or paused.
    status_to_restore = models.CharField(
        max_length=8,
        choices=EmbedStatus,
        default=EmbedStatus.ACTIVE,
        db_default=EmbedStatus.ACTIVE.value,
        editable=False,
    )
    shows = models.CharField(max_length=9, choices=Shows, default=Shows.COMMUNITY, db_default=Shows.COMMUNITY.value)
    # The entries of the whitelist that it had when a super admin trusted it: permalinks of its community go on to pages
    # on these hosts, not on those that its owner adds later. Null: not trusted.
    trusted_entries = ArrayField(models.CharField(max_length=DOMAIN_MAX), size=DOMAINS_MAX, null=True, editable=False)
    blocked_words = ArrayField(models.CharField(max_length=WORD_MAX), size=WORDS_MAX, default=list, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = EmbedQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                "owner", F("created_at").desc(), F("id").desc(), condition=Q(deleted_at=None), name="owner_embeds"
            ),
            models.Index(F("created_at").desc(), F("id").desc(), name="newest_embeds"),
            models.Index(
                "community",
                F("created_at").desc(),
                F("id").desc(),
                condition=Q(deleted_at=None),
                name="community_embeds",
            ),
            # It finds the word lists that a post is compared with.
            models.Index("community", condition=Q(deleted_at=None) & ~Q(blocked_words=[]), name="embeds_with_words"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=EmbedStatus.values), name="embed_status_known"),
            models.CheckConstraint(condition=Q(shows__in=Shows.values), name="embed_shows_known"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def has_untrusted_entries(self) -> bool:
        """Whether a super admin may trust it, or what its owner has added since."""
        return not set(self.domain_whitelist) <= set(self.trusted_entries or ())

    @property
    def is_inline(self) -> bool:
        """Whether the code of the site shows the discussion in the page."""
        return bool(self.trigger_config.get("mode") == EmbedMode.INLINE)

    def allows_host(self, host: str) -> bool:
        """Whether the widget may run on a host (see `embeds.domains`)."""
        return domains.is_allowed(host, whitelist=self.domain_whitelist, blacklist=self.domain_blacklist)
