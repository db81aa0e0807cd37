from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from config.api.ids import new_id
from messaging.models.account import Account, AccountKind
from messaging.models.community import Community
from messaging.models.page import Page

CONTENT_MAX = 20_000
ANCHOR_TEXT_MAX = 2_000
PAYLOAD_MAX = 65_536
ATTACHMENTS_MAX = 20
ATTACHMENT_URL_MAX = 2_048
LANGUAGE_MAX = 16
SOURCE_APP_MAX = 64
TAG_TYPE_MAX = 32


class MessageStatus(models.TextChoices):
    """The public API returns published messages only."""

    PUBLISHED = "published"
    PENDING = "pending"
    HIDDEN = "hidden"
    DELETED = "deleted"


PUBLISHED = Q(status=MessageStatus.PUBLISHED)
REPLIES = PUBLISHED & Q(parent__isnull=False)


class MessageQuerySet(models.QuerySet["Message"]):
    def published(self) -> MessageQuerySet:
        return self.filter(PUBLISHED)

    def pending(self) -> MessageQuerySet:
        """The moderation queue, oldest first."""
        return self.filter(status=MessageStatus.PENDING).order_by("created_at", "id")


class Message(models.Model):
    """A post, a reply (`parent`) or a quote (`quote`) on a page.

    The counts are of published replies, published quotes and reactions. A transaction that changes one of these updates
    the counts.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # No index on all posts of a page: PostgreSQL would choose it to list a page with many replies, and read them all.
    # Deleting or moving a page scans the posts instead (93 ms with 300,000).
    page = models.ForeignKey(Page, on_delete=models.PROTECT, db_index=False, related_name="messages")
    community = models.ForeignKey(Community, on_delete=models.PROTECT, null=True, blank=True, related_name="messages")
    author = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="messages")
    # A copy of the author's kind, which never changes: filtering by it needs no join.
    author_kind = models.CharField(max_length=5, choices=AccountKind)
    parent = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, db_index=False, related_name="replies"
    )
    quote = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="quotes")
    status = models.CharField(max_length=9, choices=MessageStatus, default=MessageStatus.PUBLISHED)
    # Of a hidden post: the status that it gets when all posts by its author are restored. HIDDEN: it was pending, and
    # hidden by itself. Null: it was published, and hidden by itself.
    status_before_hiding = models.CharField(  # noqa: DJ001  as above
        max_length=9, choices=MessageStatus, null=True, blank=True, editable=False
    )
    content = models.TextField(blank=True)
    tag_type = models.CharField(max_length=TAG_TYPE_MAX, null=True, blank=True)  # noqa: DJ001  null in the API
    payload = models.JSONField(null=True, blank=True)
    anchor_text = models.TextField(null=True, blank=True)  # noqa: DJ001  as above
    context_anchor = models.JSONField(null=True, blank=True)
    attachments = models.JSONField(default=list, blank=True)
    language = models.CharField(max_length=LANGUAGE_MAX, null=True, blank=True)  # noqa: DJ001  as above
    source_app = models.CharField(max_length=SOURCE_APP_MAX, null=True, blank=True)  # noqa: DJ001  as above
    embed_id = models.UUIDField(null=True, blank=True)
    reply_count = models.PositiveIntegerField(default=0)
    quote_count = models.PositiveIntegerField(default=0)
    reaction_counts = models.JSONField(default=dict)
    reaction_total = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = MessageQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                "page", F("created_at").desc(), F("id").desc(), condition=PUBLISHED & Q(parent=None), name="page_posts"
            ),
            # Limited to replies: with other posts in it, PostgreSQL may use the index to list a large page.
            models.Index("parent", F("created_at").desc(), F("id").desc(), condition=REPLIES, name="post_replies"),
            models.Index(
                *("page", F("reaction_total").desc(), F("created_at").desc(), F("id").desc()),
                condition=PUBLISHED & Q(parent=None),
                name="page_posts_by_reactions",
            ),
            models.Index(
                *("parent", F("reaction_total").desc(), F("created_at").desc(), F("id").desc()),
                condition=REPLIES,
                name="post_replies_by_reactions",
            ),
            models.Index("parent", F("reaction_total").desc(), "created_at", "id", condition=REPLIES, name="top_reply"),
            models.Index("created_at", "id", condition=Q(status=MessageStatus.PENDING), name="moderation_queue"),
            # Of feeds (see `messaging.queries.feeds`). The expression is the id of the community: an index of the
            # column itself could be chosen for a list filtered by community, and read the posts of other pages.
            models.Index("page", F("created_at").desc(), F("id").desc(), condition=REPLIES, name="page_replies"),
            models.Index(
                Coalesce("community", "id", output_field=models.UUIDField()),
                F("created_at").desc(),
                F("id").desc(),
                condition=PUBLISHED & Q(community__isnull=False),
                name="community_posts",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=MessageStatus.values), name="message_status_known"),
        ]

    def __str__(self) -> str:
        return self.content[:60] or f"[{self.tag_type or 'attachment'}]"

    @property
    def was_published(self) -> bool:
        """Whether the post is public, or was before it was hidden."""
        return self.status == MessageStatus.PUBLISHED or (
            self.status == MessageStatus.HIDDEN and self.status_before_hiding in {None, MessageStatus.PUBLISHED}
        )
