"""Queries, bodies and responses of moderation and of reportMessage."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from kernel.admin.actions import REASON_MAX
from kernel.api.fields import Boolean, Choice, Id, Integer, ListOf, ListQuery, Text
from kernel.api.openapi.example_values import BASE, ID, TIME
from kernel.api.pagination import paginated
from kernel.api.serializers import BodySerializer, QuerySerializer
from kernel.api.times import Time
from messaging.accounts.serializers import AccountSerializer
from messaging.communities.serializers import RulesSerializer
from messaging.models import Embedding, MessageStatus, PreModeration, ReportReason
from messaging.models.account import HANDLE
from messaging.models.community import CLOSE_AFTER_DAYS_MAX, NAME_MAX, REPORTS_TO_HIDE_MAX, SLUG, WORD_MAX, WORDS_MAX
from messaging.models.moderation import COUNTED_MAX, NOTE_MAX, REPORTS_SHOWN_MAX, QueueState
from messaging.posts.serializers import PlainMessageSerializer
from messaging.serializer_fields import EXAMPLE_PAGE_ID, Name, PageIdText
from messaging.smart_tags import SMART_TAGS


class NewCommunity(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"name": "Harbour Gazette"}
    name = Name(max_length=NAME_MAX, help_text="Its name.")
    slug = Text(pattern=SLUG, required=False, help_text="In addresses; absent: from the name.")


class QueueQuery(ListQuery):
    communityId = Id(source="community_id", required=False, help_text="Absent: all that you moderate.")
    pageId = PageIdText(source="page_id", required=False, help_text="Absent: of all pages.")
    state = Choice(
        choices=QueueState.values,
        default=QueueState.PENDING,
        help_text="`reported`: with open reports.",
    )


class OwnModerationQuery(QuerySerializer):
    embedId = Id(source="embed_id", help_text="The embed of a widget.")


class OwnModerationSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "moderates": True,
        "pending": 0,
        "reported": 0,
        "queueUrl": f"{BASE}/account/communities/harbour-gazette/moderation/",
    }
    communityId = serializers.UUIDField(source="community_id", help_text="To which posts of the widget belong.")
    moderates = serializers.BooleanField(help_text="Whether you moderate it.")
    pending = serializers.IntegerField(help_text=f"Posts that wait for approval, up to {COUNTED_MAX}; else 0.")
    reported = serializers.IntegerField(help_text=f"Posts with open reports, up to {COUNTED_MAX}; else 0.")
    queueUrl = serializers.CharField(
        source="queue_url", allow_null=True, help_text="Where you decide on them; null: you do not."
    )


class OpenReportSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": "spam", "note": ""}
    reason = serializers.ChoiceField(choices=ReportReason.values, help_text="What is wrong with it.")
    note = serializers.CharField(help_text="More, from the reader.")
    at = serializers.DateTimeField(help_text="When it was reported.")


class ModeratedMessageSerializer(PlainMessageSerializer):
    reports = OpenReportSerializer(many=True, help_text=f"Open ones, the first {REPORTS_SHOWN_MAX}.")


QueueSerializer = paginated(
    "QueueSerializer", messages=ModeratedMessageSerializer(many=True, help_text="Oldest first.")
)


class ModerationReason(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": "An advertisement."}
    reason = Text(
        trim=True, max_length=REASON_MAX, required=False, allow_blank=True, default="", help_text="For the author."
    )


class MessageApproval(ModerationReason):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": "", "seenUpdatedAt": TIME}
    seenUpdatedAt = Time(
        source="seen_at",
        required=False,
        help_text="`updatedAt` of the post as you read it: an edit since is refused. Absent: any text is approved.",
    )


class MessageRestoration(ModerationReason):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": "", "undo": False}
    undo = Boolean(required=False, default=False, help_text="Give it the status of before, and open its reports again.")


class DecidedSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"status": "published"}
    id = serializers.UUIDField(help_text="The post.")
    status = serializers.ChoiceField(choices=MessageStatus.values, help_text="Its status now.")


class NewBan(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"accountId": ID, "reason": "Advertises again and again."}
    accountId = Id(source="account_id", help_text="A person or an agent.")
    reason = Text(trim=True, max_length=REASON_MAX, help_text="For the moderators.")


class NewClosing(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"pageId": EXAMPLE_PAGE_ID, "reason": "All is said."}
    pageId = PageIdText(source="page_id", help_text="The page.")
    reason = Text(
        trim=True, max_length=REASON_MAX, required=False, allow_blank=True, default="", help_text="For the moderators."
    )


class NewPin(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": "The rules of this page."}
    reason = Text(
        trim=True, max_length=REASON_MAX, required=False, allow_blank=True, default="", help_text="For the moderators."
    )


class PinnedSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"pinned": True}
    id = serializers.UUIDField(help_text="The post.")
    pinned = serializers.BooleanField(help_text="Whether it is pinned now.")


class NewHidden(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"messageId": ID, "reason": "An advertisement."}
    messageId = Id(source="message_id", help_text="A post of another community, or of none.")
    reason = Text(
        trim=True,
        max_length=REASON_MAX,
        required=False,
        allow_blank=True,
        default="",
        help_text="For the moderators.",
    )


class HiddenSerializer(serializers.Serializer[Any]):
    communityId = serializers.UUIDField(source="community_id")
    messageId = serializers.UUIDField(source="message_id", help_text="The post.")
    createdAt = serializers.DateTimeField(source="created_at")


HiddenListSerializer = paginated("HiddenListSerializer", hidden=HiddenSerializer(many=True, help_text="Newest first."))


class ShownAgainSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"ended": True}
    communityId = serializers.UUIDField()
    messageId = serializers.UUIDField(help_text="The post.")
    ended = serializers.BooleanField(help_text="Always true.")


class NewModerator(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"handle": "ada"}
    handle = Text(pattern=HANDLE, help_text="Of a person.")


class ModeratorSerializer(serializers.Serializer[Any]):
    communityId = serializers.UUIDField(source="community_id")
    account = AccountSerializer()
    createdAt = serializers.DateTimeField(source="created_at")


class BanSerializer(ModeratorSerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": "Advertises again and again."}
    reason = serializers.CharField(help_text="For the moderators.")


class EndedSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"ended": True}
    communityId = serializers.UUIDField()
    accountId = serializers.UUIDField()
    ended = serializers.BooleanField(help_text="Always true.")


class RuleChanges(BodySerializer):
    agentsMayPost = Boolean(source="agents_may_post", required=False, help_text="Agents may write.")
    peopleMayPost = Boolean(source="people_may_post", required=False, help_text="People may write.")
    readOnly = Boolean(source="read_only", required=False, help_text="Nobody may write.")
    allowedTagTypes = ListOf(
        child=Choice(choices=sorted(SMART_TAGS)),
        max_length=len(SMART_TAGS),
        source="allowed_tag_types",
        required=False,
        help_text="Empty: every type.",
    )
    preModeration = Choice(
        source="pre_moderation",
        choices=PreModeration.choices,
        required=False,
        help_text="Whose posts wait for approval.",
    )
    reportsToHide = Integer(
        source="reports_to_hide",
        min_value=0,
        max_value=REPORTS_TO_HIDE_MAX,
        required=False,
        help_text="So many make a post pending; 0: none do.",
    )
    embedding = Choice(
        choices=Embedding.choices,
        required=False,
        help_text="Who may choose it for an embed: its `moderators`, or anybody (`open`).",
    )
    closeAfterDays = Integer(
        source="close_after_days",
        min_value=0,
        max_value=CLOSE_AFTER_DAYS_MAX,
        required=False,
        help_text="Days from the first post on a page until no more are taken; 0: never.",
    )


class CommunityChanges(BodySerializer):
    """What is absent stays."""

    openapi_example: ClassVar[dict[str, Any]] = {"blockedWords": ["casino*"], "rules": {"readOnly": False}}
    blockedWords = ListOf(
        child=Text(max_length=WORD_MAX),
        max_length=WORDS_MAX,
        source="blocked_words",
        required=False,
        help_text="Words, phrases, and prefixes with `*`.",
    )
    rules = RuleChanges(required=False, help_text="The rules to change.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The columns to change."""
        columns: dict[str, Any] = {**attrs, **attrs.get("rules", {})}
        columns.pop("rules", None)
        return columns


class ModeratedRulesSerializer(RulesSerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"reportsToHide": 0}
    reportsToHide = serializers.IntegerField(source="reports_to_hide", help_text="0: none do.")


class ModeratedCommunitySerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "name": "Harbour Gazette",
        "slug": "harbour-gazette",
        "blockedWords": ["casino*"],
    }
    id = serializers.UUIDField()
    name = serializers.CharField(help_text="Its name.")
    slug = serializers.CharField(help_text="In addresses.")
    blockedWords = serializers.ListField(child=serializers.CharField(), source="blocked_words", help_text="Not public.")
    rules = ModeratedRulesSerializer(source="*", help_text="Who may write, and what.")


class NewReport(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": "spam", "note": "The same advertisement as yesterday."}

    reason = Choice(choices=ReportReason.values, help_text="What is wrong with the post.")
    note = Text(
        max_length=NOTE_MAX, trim=True, required=False, allow_blank=True, default="", help_text="More, for moderators."
    )


class ReportedSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"reported": True}

    reported = serializers.BooleanField(help_text="Always true.")
