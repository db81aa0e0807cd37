"""Responses of the operations of embeds."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers

from config.api.pagination import paginated
from embeds.analytics.events import KnownEvent
from embeds.analytics.summary import Summary
from embeds.embed_code import embed_code
from embeds.models import Embed, EmbedStatus, PageRuleType, TriggerPosition, TriggerSize, TriggerType


def _texts(**kwargs: Any) -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(), **kwargs)


class PageRulesSerializer(serializers.Serializer[Any]):
    type = serializers.ChoiceField(choices=PageRuleType.choices)
    patterns = serializers.ListField(child=serializers.CharField())


class TriggerConfigSerializer(serializers.Serializer[Any]):
    type = serializers.ChoiceField(choices=TriggerType.choices)
    position = serializers.ChoiceField(choices=TriggerPosition.choices)
    message = serializers.CharField(allow_blank=True, help_text="Empty: the default text of the loader.")
    color = serializers.CharField()
    size = serializers.ChoiceField(choices=TriggerSize.choices)


class EmbedConfigFields(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    communityId = serializers.UUIDField(source="community_id")
    domainWhitelist = _texts(source="domain_whitelist", help_text="Empty: any domain.")
    pageRules = PageRulesSerializer(source="page_rules")
    triggerConfig = TriggerConfigSerializer(source="trigger_config")
    status = serializers.ChoiceField(choices=EmbedStatus.choices, help_text="Nothing is shown unless `active`.")


# Clients read the fields at the top level and under `config`.
class EmbedConfigSerializer(EmbedConfigFields):
    config = EmbedConfigFields(source="*", help_text="The same fields again.")


class EmbedCode(serializers.CharField):
    def to_representation(self, value: Any) -> str:
        return embed_code(app_url=settings.APP_URL, embed_id=value.pk)


class EmbedInstanceSerializer(serializers.Serializer[Embed]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    communityId = serializers.UUIDField(source="community_id")
    domainWhitelist = _texts(source="domain_whitelist", help_text="Empty: any domain.")
    pageRules = PageRulesSerializer(source="page_rules")
    triggerConfig = TriggerConfigSerializer(source="trigger_config")
    status = serializers.ChoiceField(choices=EmbedStatus.choices, help_text="Nothing is shown unless `active`.")
    blockedWords = _texts(source="blocked_words")
    embedCode = EmbedCode(source="*", help_text="The script element to paste into a page.")
    ownerId = serializers.UUIDField(source="owner_id")
    createdAt = serializers.DateTimeField(source="created_at")
    updatedAt = serializers.DateTimeField(source="updated_at")


EmbedListSerializer = paginated("EmbedListSerializer", instances=EmbedInstanceSerializer(many=True))


class DeletedEmbedSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    deleted = serializers.BooleanField()


class BlacklistSerializer(serializers.Serializer[Any]):
    domains = serializers.ListField(child=serializers.CharField())


class ClientAnalyticsSerializer(serializers.Serializer[Any]):
    enabled = serializers.BooleanField()
    events = serializers.ListField(child=serializers.ChoiceField(choices=[event.value for event in KnownEvent]))


class ClientConfigSerializer(serializers.Serializer[Any]):
    enabled = serializers.BooleanField()
    apiUrl = serializers.URLField()
    appUrl = serializers.URLField()
    streamUrl = serializers.URLField(allow_null=True, help_text="The origin of the streams; null without them.")
    loaderVersion = serializers.CharField()
    analytics = ClientAnalyticsSerializer()
    features = serializers.DictField(child=serializers.BooleanField())
    pollSeconds = serializers.IntegerField(help_text="How often to ask for changes without a stream, on average.")


class AcceptedSerializer(serializers.Serializer[Any]):
    accepted = serializers.BooleanField()


def _counts(help_text: str) -> serializers.DictField:
    return serializers.DictField(child=serializers.IntegerField(), help_text=help_text)


class DaySerializer(serializers.Serializer[Any]):
    date = serializers.DateField()
    counts = _counts("By event; events with no count are absent.")
    uniqueVisitors = serializers.IntegerField(source="visitors")


class PageSerializer(serializers.Serializer[Any]):
    path = serializers.CharField(help_text="`_other` sums the pages beyond the busiest.")
    counts = _counts("By event.")


class SummarySerializer(serializers.Serializer[Summary]):
    embedId = serializers.UUIDField(source="embed_id")
    to = serializers.DateField(source="last")
    totals = _counts("The known events.")
    events = _counts("Custom events by name; `_other` sums those beyond 50 names per day.")
    uniqueVisitors = serializers.IntegerField(
        source="unique_visitors", help_text="The sum over the days: a visitor of two days counts twice."
    )
    clickRate = serializers.FloatField(
        source="click_rate", allow_null=True, help_text="Clicks per view; null without a view."
    )
    days = DaySerializer(source="by_day", many=True)
    pages = PageSerializer(source="by_page", many=True)

    def get_fields(self) -> dict[str, Any]:
        # `from` cannot be written as a class attribute.
        fields = super().get_fields()
        return {"embedId": fields.pop("embedId"), "from": serializers.DateField(source="first"), **fields}
