"""What the operations of embeds answer, described for OpenAPI; the tests hold `embeds.records` against it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from embeds.analytics.events import KnownEvent
from embeds.models import EmbedStatus, PageRuleType, TriggerPosition, TriggerSize, TriggerType


class PageRulesRecord(serializers.Serializer[Any]):
    type = serializers.ChoiceField(choices=PageRuleType.choices)
    patterns = serializers.ListField(child=serializers.CharField())


class TriggerConfigRecord(serializers.Serializer[Any]):
    type = serializers.ChoiceField(choices=TriggerType.choices)
    position = serializers.ChoiceField(choices=TriggerPosition.choices)
    message = serializers.CharField(allow_blank=True, help_text="Empty: the loader's own words.")
    color = serializers.CharField()
    size = serializers.ChoiceField(choices=TriggerSize.choices)


class EmbedConfigFields(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    communityId = serializers.UUIDField()
    domainWhitelist = serializers.ListField(child=serializers.CharField(), help_text="Empty: any domain.")
    pageRules = PageRulesRecord()
    triggerConfig = TriggerConfigRecord()
    status = serializers.ChoiceField(choices=EmbedStatus.choices, help_text="Nothing is shown unless `active`.")


class EmbedConfigRecord(EmbedConfigFields):
    config = EmbedConfigFields(help_text="The same once more.")


class EmbedInstanceRecord(EmbedConfigFields):
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    blockedWords = serializers.ListField(child=serializers.CharField())
    embedCode = serializers.CharField(help_text="The script element to paste into a page.")
    ownerId = serializers.UUIDField()
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


class EmbedListRecord(serializers.Serializer[Any]):
    instances = EmbedInstanceRecord(many=True)
    hasMore = serializers.BooleanField()
    nextCursor = serializers.CharField(allow_null=True)


class DeletedEmbedRecord(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    deleted = serializers.BooleanField()


class BlacklistRecord(serializers.Serializer[Any]):
    domains = serializers.ListField(child=serializers.CharField())


class ClientAnalyticsRecord(serializers.Serializer[Any]):
    enabled = serializers.BooleanField()
    events = serializers.ListField(child=serializers.ChoiceField(choices=[event.value for event in KnownEvent]))


class ClientConfigRecord(serializers.Serializer[Any]):
    enabled = serializers.BooleanField()
    apiUrl = serializers.URLField()
    appUrl = serializers.URLField()
    loaderVersion = serializers.CharField()
    analytics = ClientAnalyticsRecord()
    features = serializers.DictField(child=serializers.BooleanField())
    pollSeconds = serializers.IntegerField()


class AcceptedRecord(serializers.Serializer[Any]):
    accepted = serializers.BooleanField()


def _counts(help_text: str) -> serializers.DictField:
    return serializers.DictField(child=serializers.IntegerField(), help_text=help_text)


class DayRecord(serializers.Serializer[Any]):
    date = serializers.DateField()
    counts = _counts("By event; what did not happen is absent.")
    uniqueVisitors = serializers.IntegerField()


class PageRecord(serializers.Serializer[Any]):
    path = serializers.CharField(help_text="`_other` for all beyond the busiest.")
    counts = _counts("By event.")


class SummaryRecord(serializers.Serializer[Any]):
    embedId = serializers.UUIDField()
    to = serializers.DateField()
    totals = _counts("The known events.")
    events = _counts("The owner's own events; `_other` for those beyond 50 names a day.")
    uniqueVisitors = serializers.IntegerField(help_text="The sum of the days: nobody is followed over midnight.")
    clickRate = serializers.FloatField(allow_null=True, help_text="Clicks per view; null where there was no view.")
    days = DayRecord(many=True)
    pages = PageRecord(many=True)

    def get_fields(self) -> dict[str, Any]:
        # `from` cannot be written as a class attribute.
        return {"from": serializers.DateField()} | super().get_fields()
