"""Embeds, the hosts that communities prove, the accounts of sites, and the tables of analytics.

Of analytics there are counts per day, and the salt of each of the last two days.

Raw events and the visitors of open days are stored in two tables without models, `embeds_event` and `embeds_visitor`
(see migration 0002).

No foreign keys: their locks would let counting slow down or block changes of embeds.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinLengthValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
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
ADDRESS_MAX = 2_048
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


class SignInMode(models.TextChoices):
    """How readers sign in to the widget: by accounts of the site, by those of this service, or by either."""

    OWN = "own"
    BOTH = "both"
    SERVICE = "service"


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
    sign_in = models.CharField(
        max_length=7, choices=SignInMode, default=SignInMode.SERVICE, db_default=SignInMode.SERVICE.value
    )
    # Where the site signs its readers in, and the public keys of its tokens. Empty: none.
    sign_in_url = models.CharField(max_length=ADDRESS_MAX, blank=True, default="", db_default="")
    jwks_url = models.CharField(max_length=ADDRESS_MAX, blank=True, default="", db_default="")
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
            models.CheckConstraint(condition=Q(sign_in__in=SignInMode.values), name="embed_sign_in_known"),
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


SUBJECT_MAX = 255
EMAIL_MAX = 254


class SiteSecret(models.Model):
    """The secret with which a site signs the tokens of its readers. Encrypted, see `embeds.site_accounts.keys`."""

    embed = models.OneToOneField(Embed, on_delete=models.CASCADE, primary_key=True, related_name="site_secret")
    secret = models.BinaryField()
    # It is accepted too until then, so that the site can exchange the secret without refusing anybody.
    previous_secret = models.BinaryField(null=True)
    previous_secret_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)


class SiteAccount(models.Model):
    """What a site says about the account that it signs in: one for each `subject` of a community."""

    account = models.OneToOneField(Account, on_delete=models.CASCADE, primary_key=True, related_name="site_account")
    community = models.ForeignKey(Community, on_delete=models.PROTECT, db_index=False, related_name="+")
    subject = models.CharField(max_length=SUBJECT_MAX)
    email = models.CharField(max_length=EMAIL_MAX, blank=True)
    # Whether a token has made it a moderator, which a later one without the claim ends.
    is_moderator = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    signed_in_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["community", "subject"], name="one_account_of_subject")]
        # A person finds those with an address of theirs.
        indexes = [models.Index("email", condition=~Q(email=""), name="site_accounts_by_address")]

    def __str__(self) -> str:
        return f"site account {self.pk}"


class UsedSiteToken(models.Model):
    """A token that was exchanged: a digest of its `jti`, until it has expired."""

    pk = models.CompositePrimaryKey("embed_id", "digest")
    embed_id = models.UUIDField()
    digest = models.BinaryField(max_length=32)
    expires_at = models.DateTimeField(db_index=True)


# A proof ends when the record was not found for this time.
LOST_AFTER = timedelta(days=14)
TOKEN_MAX = 64
# The record of a host: the label before its name, and what its value begins with.
LABEL = "_community"
VALUE = "community-verification="
# What is stored of the records that were found instead.
VALUES_MAX = 5
VALUE_MAX = 255


class HostState(models.TextChoices):
    """What the last look at the record found."""

    UNSEEN = "unseen"
    FOUND = "found"
    NO_RECORD = "no_record"
    OTHER_VALUES = "other_values"
    NO_ANSWER = "no_answer"


class HostProofQuerySet(models.QuerySet["HostProof"]):
    def proved(self) -> HostProofQuerySet:
        """Those that count now: none without DOMAIN_CHECKS."""
        return self.filter(found_at__gt=Now() - LOST_AFTER) if settings.DOMAIN_CHECKS else self.none()

    def of_community(self, community_id: UUID) -> HostProofQuerySet:
        return self.filter(community=community_id).order_by("host")


class HostProof(models.Model):
    """A host that a community proves to be its own by a TXT record. Several communities may prove one host.

    `host` has no port and no `www.`. The record counts for LOST_AFTER since `found_at`, when it was last found.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    community = models.ForeignKey(Community, on_delete=models.CASCADE, db_index=False, related_name="host_proofs")
    host = models.CharField(max_length=domains.HOST_MAX, db_index=True)
    token = models.CharField(max_length=TOKEN_MAX)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # Since when it has been proved without an interruption.
    proved_at = models.DateTimeField(null=True)
    found_at = models.DateTimeField(null=True)
    # The last look, and when a moderator last asked for one.
    checked_at = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=12, choices=HostState, default=HostState.UNSEEN)
    values = ArrayField(models.CharField(max_length=VALUE_MAX), size=VALUES_MAX, default=list)

    objects = HostProofQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["community", "host"], name="one_proof_of_host"),
            models.CheckConstraint(condition=models.Q(state__in=HostState.values), name="host_state_known"),
        ]

    def __str__(self) -> str:
        return self.host

    @property
    def record_name(self) -> str:
        return f"{LABEL}.{self.host}"

    @property
    def record_value(self) -> str:
        return f"{VALUE}{self.token}"

    @property
    def is_proved(self) -> bool:
        """Tell the same as `proved`, for pages and responses that list what the database has returned."""
        is_fresh = self.found_at is not None and self.found_at > timezone.now() - LOST_AFTER
        return settings.DOMAIN_CHECKS and is_fresh

    @property
    def is_checking(self) -> bool:
        """Whether a moderator waits for a look."""
        return self.asked_at is not None and (self.checked_at is None or self.asked_at > self.checked_at)


EVENT_MAX = 64
PATH_MAX = 512


class DailySalt(models.Model):
    """The key of the visitor hashes of a day. After its deletion, no hash of that day can be linked to a person."""

    day = models.DateField(primary_key=True)
    salt = models.BinaryField(max_length=32)


class DailyCount(models.Model):
    """The number of an event on a path on a day (UTC). Paths and custom names beyond the daily limit are `_other`."""

    pk = models.CompositePrimaryKey("embed_id", "day", "path", "event")
    embed_id = models.UUIDField()
    day = models.DateField(db_index=True)
    path = models.CharField(max_length=PATH_MAX)
    event = models.CharField(max_length=EVENT_MAX)
    count = models.PositiveBigIntegerField()


class DailyVisitors(models.Model):
    """The number of distinct visitors of an embed on a closed day."""

    pk = models.CompositePrimaryKey("embed_id", "day")
    embed_id = models.UUIDField()
    day = models.DateField(db_index=True)
    visitors = models.PositiveBigIntegerField()


class Sighting(models.Model):
    """A host whose pages asked for the configuration of an embed: that the widget is on the site, and where.

    No foreign key, as for analytics. `path` is that of the last event with one; of a request for the configuration,
    browsers tell only the host. `null` is the host of a page without one, such as a local file.
    """

    pk = models.CompositePrimaryKey("embed_id", "host")
    embed_id = models.UUIDField()
    host = models.CharField(max_length=DOMAIN_MAX)
    # Whether the domain lists refused the last request.
    is_refused = models.BooleanField()
    # Whether every visit came over http. Null: not known, of a row of an earlier release.
    is_plain = models.BooleanField(null=True)
    path = models.CharField(max_length=PATH_MAX, default="", db_default="")
    first_seen_at = models.DateTimeField(db_default=Now())
    last_seen_at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        indexes = [
            # The embeds that were loaded on a host, in the order of `embeds.places`.
            models.Index("host", "first_seen_at", condition=Q(is_refused=False), name="sightings_by_host")
        ]
