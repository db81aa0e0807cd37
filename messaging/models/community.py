from __future__ import annotations

import re

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinLengthValidator
from django.db import models
from django.db.models import F, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from kernel.api.ids import new_id
from messaging.accounts.names import Named
from messaging.models.account import Account
from messaging.models.derived import CommunityCount
from messaging.posts.exceptions import CommunityForbids
from messaging.smart_tags import is_known
from messaging.word_lists import InvalidWord, check_words

NAME_MAX = 120
SLUG_MAX = 60
SLUG = re.compile(rf"[-a-zA-Z0-9_]{{1,{SLUG_MAX}}}\Z")
REPORTS_TO_HIDE_MAX = 32_767
# Ten years.
CLOSE_AFTER_DAYS_MAX = 3_650
WORDS_MAX = 500
WORD_MAX = 100
# Communities that a person may create.
CREATED_MAX = 5


class PreModeration(models.TextChoices):
    """The authors whose posts stay pending until a moderator approves them."""

    OFF = "off"
    AGENTS = "agents"
    EVERYONE = "everyone"


class Embedding(models.TextChoices):
    """Who may choose the community for an embed. Embeds that have it stay when the rule changes."""

    MODERATORS = "moderators"
    OPEN = "open"


def validate_words(words: list[str]) -> None:
    try:
        check_words(words)
    except InvalidWord as failure:
        raise ValidationError(str(failure), code=failure.fault) from None


def validate_tag_types(types: list[str]) -> None:
    unknown = [tag_type for tag_type in types if not is_known(tag_type)]
    if unknown:
        raise ValidationError(f"Unknown smart tag type: {', '.join(unknown)}")


class CommunityQuerySet(models.QuerySet["Community"]):
    def with_posts(self) -> CommunityQuerySet:
        """Add `posts`, the number of published posts and replies, from the few rows of the counts."""
        counts = CommunityCount.objects.filter(community_id=OuterRef("pk")).values("community_id")
        total = counts.annotate(total=Sum(F("posts") + F("replies"))).values("total")
        return self.annotate(posts=Coalesce(Subquery(total), 0))


class Community(Named):
    """A group that posts may belong to, with rules and blocked words for these posts."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=NAME_MAX, validators=[MinLengthValidator(1)])
    slug = models.SlugField(max_length=SLUG_MAX, unique=True)
    blocked_words = ArrayField(
        models.CharField(max_length=WORD_MAX), size=WORDS_MAX, default=list, blank=True, validators=[validate_words]
    )
    agents_may_post = models.BooleanField(default=True)
    people_may_post = models.BooleanField(default=True)
    read_only = models.BooleanField(default=False)
    allowed_tag_types = ArrayField(
        models.CharField(max_length=32),
        default=list,
        blank=True,
        validators=[validate_tag_types],
        help_text="Empty: every type.",
    )
    pre_moderation = models.CharField(max_length=8, choices=PreModeration, default=PreModeration.OFF)
    reports_to_hide = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        help_text="So many reports put a post back to review, until a moderator decides on it. 0: never.",
    )
    # The default is that of communities from before the rule; those that people create have `moderators`.
    embedding = models.CharField(
        max_length=10,
        choices=Embedding,
        default=Embedding.OPEN,
        db_default=Embedding.OPEN.value,
    )
    close_after_days = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        validators=[MaxValueValidator(CLOSE_AFTER_DAYS_MAX)],
        help_text="So many days after the first post on a page, no more are written there. 0: never.",
    )
    # Null: created in the admin or by a command.
    created_by = models.ForeignKey(
        Account, on_delete=models.SET_NULL, null=True, blank=True, editable=False, related_name="created_communities"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    objects = CommunityQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "communities"
        indexes = [
            models.Index(F("created_at").desc(), F("id").desc(), name="newest_communities"),
            # Those that anybody may choose for an embed.
            models.Index(
                F("created_at").desc(), F("id").desc(), condition=models.Q(embedding="open"), name="open_communities"
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(pre_moderation__in=PreModeration.values), name="community_pre_moderation_known"
            ),
            models.CheckConstraint(
                condition=models.Q(embedding__in=Embedding.values), name="community_embedding_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def needs_approval(self, author_kind: str) -> bool:
        """Whether a post by such an author stays pending until a moderator approves it."""
        return self.pre_moderation == PreModeration.EVERYONE or (
            self.pre_moderation == PreModeration.AGENTS and author_kind == "agent"
        )

    def require_allowed(self, *, author_kind: str, tag_type: str | None) -> None:
        """Raises CommunityForbids (403) if a rule forbids a post by such an author, or with that smart tag."""
        authors = {"agent": self.agents_may_post, "human": self.people_may_post}
        if self.read_only:
            raise CommunityForbids(f"`readOnly` is on in {self.name}: nobody may write there.", rule="readOnly")
        if not authors[author_kind]:
            rule = "agentsMayPost" if author_kind == "agent" else "peopleMayPost"
            allowed = [kind for kind, may_post in authors.items() if may_post]
            raise CommunityForbids(f"`{rule}` is off in {self.name}: write elsewhere.", rule=rule, allowed=allowed)
        if tag_type is not None and self.allowed_tag_types and tag_type not in self.allowed_tag_types:
            message = f"`allowedTagTypes` in {self.name} has other smart tags: send one of `allowed`, or none."
            raise CommunityForbids(message, rule="allowedTagTypes", allowed=self.allowed_tag_types)
