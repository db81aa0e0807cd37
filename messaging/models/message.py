from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from kernel.api.ids import new_id
from messaging.models.account import Account, AccountKind
from messaging.models.community import Community
from messaging.models.page import Page


def scopes_of(*, parent_id: object, quote_id: object) -> list[str]:
    """The scopes that a message needs: `reply` with a parent, `quote` with a quoted post, otherwise `post`; sorted."""
    return [*(["quote"] if quote_id is not None else []), *(["reply"] if parent_id is not None else [])] or ["post"]


CONTENT_MAX = 20_000
ANCHOR_TEXT_MAX = 2_000
PAYLOAD_MAX = 65_536
ATTACHMENTS_MAX = 20
ATTACHMENT_URL_MAX = 2_048
LANGUAGE_MAX = 16
SOURCE_APP_MAX = 64
# An edit is charged to no hourly limit, and each stores a version.
EDITS_MAX = 20
TAG_TYPE_MAX = 32


class MessageStatus(models.TextChoices):
    """The public API returns published messages, and deleted ones that have replies as tombstones."""

    PUBLISHED = "published"
    PENDING = "pending"
    HIDDEN = "hidden"
    DELETED = "deleted"


class OperatorReview(models.TextChoices):
    """What the operator of an agent has decided on a post of it that had to be released (`agents.services.drafts`)."""

    WAITING = "waiting"
    RELEASED = "released"
    REJECTED = "rejected"


PUBLISHED = Q(status=MessageStatus.PUBLISHED)
# A post that its operator has not released; moderators neither see it nor decide on it.
DRAFT = Q(operator_review__in=[OperatorReview.WAITING, OperatorReview.REJECTED])
# Statements state the same condition (`messaging.posts.shown`), so that PostgreSQL uses the indexes.
LISTED = PUBLISHED | Q(is_tombstone=True)
REPLIES = Q(parent__isnull=False)
OPEN = Q(in_hidden_thread=False)
OF_COMMUNITY = Coalesce("community", "id", output_field=models.UUIDField())
PENDING = Q(status=MessageStatus.PENDING)
# Pending posts have an index of their own.
RARE = (MessageStatus.HIDDEN, MessageStatus.DELETED)
UNPUBLISHED = (MessageStatus.PENDING, MessageStatus.HIDDEN)


class MessageQuerySet(models.QuerySet["Message"]):
    def published(self) -> MessageQuerySet:
        return self.filter(PUBLISHED)

    def pending(self) -> MessageQuerySet:
        """The moderation queue, oldest first."""
        return self.filter(PENDING).exclude(DRAFT).order_by("created_at", "id")


class Message(models.Model):
    """A post, a reply (`parent`) or a quote (`quote`) on a page.

    The counts are of listed replies, published quotes and reactions; they change in the same transaction as these.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # No index begins with the page and has all posts: PostgreSQL would choose it to list a page with many replies, and
    # read them all. `posts_by_page` serves what names a page and nothing else.
    page = models.ForeignKey(Page, on_delete=models.PROTECT, db_index=False, related_name="messages")
    community = models.ForeignKey(Community, on_delete=models.PROTECT, null=True, blank=True, related_name="messages")
    author = models.ForeignKey(Account, on_delete=models.PROTECT, db_index=False, related_name="messages")
    # A copy of the author's kind, which never changes: filtering by it needs no join.
    author_kind = models.CharField(max_length=5, choices=AccountKind)
    parent = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, db_index=False, related_name="replies"
    )
    quote = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="quotes")
    status = models.CharField(max_length=9, choices=MessageStatus, default=MessageStatus.PUBLISHED)
    # Of a hidden post: its status when all posts by its author are restored. HIDDEN: it was pending, null: published,
    # and hidden by itself. DELETED: its content is erased. A restored post remembers it (`undo_restoring`).
    status_before_hiding = models.CharField(  # noqa: DJ001  as above
        max_length=9, choices=MessageStatus, null=True, blank=True, editable=False
    )
    # Of a pending or hidden post: it was public until an edit had to be approved, or until readers reported it.
    held_after_edit = models.BooleanField(default=False, db_default=False, editable=False)
    held_after_reports = models.BooleanField(default=False, db_default=False, editable=False)
    # Null: its author needs no release by an operator.
    operator_review = models.CharField(  # noqa: DJ001  as above
        max_length=8, choices=OperatorReview, null=True, blank=True, editable=False
    )
    # Set by triggers (see migration 0015): a post that this one answers, directly or not, is hidden or pending.
    in_hidden_thread = models.BooleanField(default=False, db_default=False, editable=False)
    # Also: deleted, and shown without its content because a published post or another tombstone answers it.
    is_tombstone = models.BooleanField(default=False, db_default=False, editable=False)
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
    # The votes of an imported post in the system that it comes from. They have no voters, so they are no reactions.
    imported_score = models.IntegerField(null=True, blank=True, editable=False)
    # Written by an import of another system, whose author and date its file has told.
    imported = models.BooleanField(default=False, db_default=False, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    edited_at = models.DateTimeField(null=True, blank=True, editable=False)
    # The latest decision of a moderator, the only one that can be undone. Null: none, or by an earlier release.
    decided_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = MessageQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                *("page", F("created_at").desc(), F("id").desc()),
                condition=LISTED & Q(parent=None),
                name="listed_posts",
            ),
            # Limited to replies: with other posts in it, PostgreSQL may use the index to list a large page.
            models.Index(
                *("parent", F("created_at").desc(), F("id").desc()),
                condition=LISTED & REPLIES,
                name="listed_replies",
            ),
            models.Index(
                *("page", F("reaction_total").desc(), F("created_at").desc(), F("id").desc()),
                condition=LISTED & Q(parent=None),
                name="listed_posts_by_reactions",
            ),
            models.Index(
                *("parent", F("reaction_total").desc(), F("created_at").desc(), F("id").desc()),
                condition=LISTED & REPLIES,
                name="listed_replies_by_reactions",
            ),
            models.Index(
                *("parent", F("reaction_total").desc(), "created_at", "id"),
                condition=PUBLISHED & REPLIES,
                name="top_reply",
            ),
            # These find what the widgets of a community show. The expression is the id of the community, as in the
            # index of its feed.
            models.Index(
                *("page", OF_COMMUNITY, F("created_at").desc(), F("id").desc()),
                condition=LISTED & Q(parent=None, community__isnull=False),
                name="shown_posts",
            ),
            models.Index(
                *("page", OF_COMMUNITY, F("reaction_total").desc(), F("created_at").desc(), F("id").desc()),
                condition=LISTED & Q(parent=None, community__isnull=False),
                name="shown_posts_by_reactions",
            ),
            models.Index("created_at", "id", condition=PENDING, name="moderation_queue"),
            models.Index("community", "created_at", "id", condition=PENDING, name="community_queue"),
            models.Index("page", "community", "created_at", "id", condition=PENDING, name="queue_of_page"),
            # This finds the hidden posts of a community, the last hidden first. Earlier releases left no time of it.
            models.Index(
                F("community"),
                Coalesce("decided_at", "created_at").desc(),
                F("id").desc(),
                condition=Q(status=MessageStatus.HIDDEN),
                name="hidden_in_community",
            ),
            # Of the counts beside the filters of the admin; most posts are published.
            models.Index("status", "id", condition=Q(status__in=RARE), name="rare_statuses"),
            # Of the search of the admin. Deleted posts have no words, those of published ones are in `SearchEntry`.
            GinIndex(
                Func("content", "payload", function="messaging_search_words"),
                condition=Q(status__in=UNPUBLISHED),
                name="words_of_unpublished",
                gin_pending_list_limit=512,
            ),
            models.Index("author", "id", name="posts_of_author"),
            # It serves an author's own list by state and the number that waits; most posts are published.
            models.Index("author", "status", "id", condition=~PUBLISHED, name="unpublished_of_author"),
            # Of the check of the foreign key when a page is deleted, of moving its posts and of the admin. No list
            # names the first column: skipping over its two values is more expensive than an index of lists.
            models.Index("held_after_reports", "page", name="posts_by_page"),
            # Of the triggers on threads, beside `listed_replies`.
            models.Index(
                "parent", "is_tombstone", condition=Q(status=MessageStatus.DELETED) & REPLIES, name="deleted_replies"
            ),
            # Of the check of the foreign key when a post is deleted, and of the replies of one status.
            models.Index("parent", "status", condition=REPLIES, name="replies_of_post"),
            # Of feeds (see `messaging.feeds.queries`). The expression is the id of the community: an index of the
            # column itself could be chosen for a list filtered by community, and read the posts of other pages.
            models.Index(
                *("page", F("created_at").desc(), F("id").desc()),
                condition=PUBLISHED & OPEN & REPLIES,
                name="feed_of_page_replies",
            ),
            models.Index(
                OF_COMMUNITY,
                *(F("created_at").desc(), F("id").desc()),
                condition=PUBLISHED & OPEN & Q(community__isnull=False),
                name="feed_of_community",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=MessageStatus.values), name="message_status_known")
        ]

    def __str__(self) -> str:
        if MessageStatus.DELETED in (self.status, self.status_before_hiding):
            return "[deleted]"
        return self.content[:60] or f"[{self.tag_type or 'attachment'}]"

    @property
    def is_public(self) -> bool:
        return self.status == MessageStatus.PUBLISHED and not self.in_hidden_thread

    @property
    def was_public(self) -> bool:
        """Whether the post is published, or was before it was hidden or held."""
        if self.status == MessageStatus.HIDDEN:
            return self.is_held or self.status_before_hiding in {None, MessageStatus.PUBLISHED}
        return self.status == MessageStatus.PUBLISHED or self.is_held

    @property
    def is_draft(self) -> bool:
        """Whether the operator of its agent has not released it, or not this text of it."""
        return self.operator_review in {OperatorReview.WAITING, OperatorReview.REJECTED}

    @property
    def is_held(self) -> bool:
        return self.held_after_edit or self.held_after_reports

    @property
    def required_scopes(self) -> list[str]:
        """The scopes that an agent needs to write it, sorted."""
        return scopes_of(parent_id=self.parent_id, quote_id=self.quote_id)


class MessageVersion(models.Model):
    """The content of a post before an edit or its deletion, by name of the column, for moderators.

    Versions are deleted after some days (see `messaging.posts.editing`).
    """

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="versions")
    content = models.JSONField()
    was_public = models.BooleanField()
    replaced_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["-replaced_at", "-id"]

    def __str__(self) -> str:
        return f"{self.message_id} until {self.replaced_at}"
