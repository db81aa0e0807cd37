"""Responses of the operations of embeds."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from rest_framework import serializers

from embeds.analytics.ingest import KnownEvent
from embeds.analytics.summary import Summary
from embeds.embed_code import embed_code
from embeds.models import EmbedStatus, PageRuleType, Shows, SignInMode, TriggerPosition, TriggerSize, TriggerType
from embeds.widget.locales import DEFAULT_LANGUAGE, words
from kernel.api.openapi.example_values import BASE, ID
from kernel.api.pagination import paginated
from messaging.accounts.serializers import AccountSerializer


def _texts(**kwargs: Any) -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(), **kwargs)


class PageRulesSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"type": "all", "patterns": []}
    type = serializers.ChoiceField(choices=PageRuleType.choices, help_text="`all` pages, or by `patterns`.")
    patterns = serializers.ListField(child=serializers.CharField(), help_text="Paths with `*`.")


class TriggerConfigSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "type": "corner-tab",
        "position": "bottom-right",
        "message": "",
        "color": "#2f5bd0",
        "size": "medium",
    }
    type = serializers.ChoiceField(choices=TriggerType.choices, help_text="Its form.")
    position = serializers.ChoiceField(choices=TriggerPosition.choices, help_text="Its corner.")
    message = serializers.CharField(allow_blank=True, help_text="Empty: the default text of the loader.")
    color = serializers.CharField(help_text="`#rgb` or `#rrggbb`.")
    size = serializers.ChoiceField(choices=TriggerSize.choices, help_text="Its size.")


class EmbedConfigFields(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "domainWhitelist": ["example.com"],
        "status": "active",
        "signIn": "service",
        "signInUrl": "",
    }
    id = serializers.UUIDField()
    communityId = serializers.UUIDField(source="community_id")
    domainWhitelist = _texts(source="domain_whitelist", help_text="Empty: any domain.")
    pageRules = PageRulesSerializer(source="page_rules", help_text="Where it is shown.")
    triggerConfig = TriggerConfigSerializer(source="trigger_config", help_text="What opens it.")
    status = serializers.ChoiceField(choices=EmbedStatus.choices, help_text="Nothing is shown unless `active`.")
    signIn = serializers.ChoiceField(
        source="sign_in", choices=SignInMode.choices, help_text="By accounts of the site, of this `service`, or both."
    )
    signInUrl = serializers.CharField(source="sign_in_url", help_text="Where the site signs in; empty: nowhere.")


class LoaderWordsSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = dict(words(DEFAULT_LANGUAGE)["loader"])
    open = serializers.CharField(help_text="The trigger.")
    close = serializers.CharField(help_text="Closes the panel.")
    tab = serializers.CharField(help_text="A link to the panel in a tab.")
    offline = serializers.CharField(help_text="While the panel cannot be loaded.")


# Clients read the fields at the top level and under `config`.
class EmbedConfigSerializer(EmbedConfigFields):
    config = EmbedConfigFields(source="*", help_text="The same fields again.")
    words = LoaderWordsSerializer(required=False, help_text="With `lang`: the texts of the loader.")
    ink = serializers.CharField(required=False, help_text="With `lang`: the colour of text.")


class EmbedCode(serializers.CharField):
    def to_representation(self, value: Any) -> str:
        return embed_code(app_url=settings.APP_URL, embed_id=value.pk, is_inline=value.is_inline)


class EmbedInstanceSerializer(EmbedConfigFields):
    openapi_example: ClassVar[dict[str, Any]] = {
        "name": "Article pages",
        "description": "",
        "blockedWords": [],
        "shows": "community",
        "jwksUrl": "",
        "embedCode": f'<script async src="{BASE}/embed/v1.js" data-service-id="{ID}"></script>',
    }
    name = serializers.CharField(help_text="For you, and for moderators of the community.")
    description = serializers.CharField(allow_blank=True, help_text="For you.")
    blockedWords = _texts(source="blocked_words", help_text="Added to those of the community.")
    shows = serializers.ChoiceField(choices=Shows.choices, help_text="Posts of its community, or of everyone.")
    jwksUrl = serializers.CharField(source="jwks_url", help_text="Public keys of the site; empty: none.")
    embedCode = EmbedCode(source="*", help_text="To paste into a page.")
    ownerId = serializers.UUIDField(source="owner_id")
    createdAt = serializers.DateTimeField(source="created_at")
    updatedAt = serializers.DateTimeField(source="updated_at")


class CommunityEmbedSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "name": "Article pages",
        "status": "active",
        "domainWhitelist": ["example.com"],
    }
    id = serializers.UUIDField()
    name = serializers.CharField(help_text="From its owner.")
    status = serializers.ChoiceField(choices=EmbedStatus.choices, help_text="Nothing is shown unless `active`.")
    owner = AccountSerializer()
    domainWhitelist = _texts(source="domain_whitelist", help_text="Empty: any domain.")
    createdAt = serializers.DateTimeField(source="created_at")


CommunityEmbedListSerializer = paginated(
    "CommunityEmbedListSerializer", embeds=CommunityEmbedSerializer(many=True, help_text="Newest first.")
)


class EndedEmbedSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"ended": True}
    id = serializers.UUIDField()
    ended = serializers.BooleanField(help_text="Always true.")


EmbedListSerializer = paginated(
    "EmbedListSerializer", instances=EmbedInstanceSerializer(many=True, help_text="Newest first.")
)


class BlacklistSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"domains": ["ads.example.com"]}
    domains = serializers.ListField(child=serializers.CharField(), help_text="Normalised.")


class ClientAnalyticsSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"enabled": True, "events": [event.value for event in KnownEvent]}
    enabled = serializers.BooleanField(help_text="Whether to send events.")
    events = serializers.ListField(
        child=serializers.ChoiceField(choices=[event.value for event in KnownEvent]), help_text="The known events."
    )


class ClientConfigSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "enabled": True,
        "apiUrl": BASE,
        "appUrl": BASE,
        "streamUrl": None,
        "loaderVersion": "1.0.0",
        "features": {"posts": True, "replies": True, "quotes": True, "reactions": True, "smartTags": True},
        "pollSeconds": 30,
    }
    enabled = serializers.BooleanField(help_text="false: show nothing.")
    apiUrl = serializers.URLField(help_text="The origin of the API.")
    appUrl = serializers.URLField(help_text="The origin of the widget.")
    streamUrl = serializers.URLField(allow_null=True, help_text="The origin of the streams.")
    loaderVersion = serializers.CharField(help_text="Of `v1.js`.")
    analytics = ClientAnalyticsSerializer(help_text="The events to send.")
    features = serializers.DictField(child=serializers.BooleanField(), help_text="What the widget offers.")
    pollSeconds = serializers.IntegerField(help_text="How often to ask without a stream.")


class AcceptedSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"accepted": True}
    accepted = serializers.BooleanField(help_text="Always true.")


def _counts(help_text: str) -> serializers.DictField:
    return serializers.DictField(child=serializers.IntegerField(), help_text=help_text)


class DaySerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "date": "2026-05-01",
        "counts": {"trigger_click": 1},
        "uniqueVisitors": 1,
    }
    date = serializers.DateField(help_text="UTC.")
    counts = _counts("By event.")
    uniqueVisitors = serializers.IntegerField(source="visitors", help_text="Of this day.")


class PageSerializer(serializers.Serializer[Any]):
    openapi_example: ClassVar[dict[str, Any]] = {"path": "/article", "counts": {"trigger_click": 1}}
    path = serializers.CharField(help_text="`_other` sums the pages beyond the busiest.")
    counts = _counts("By event.")


class SummarySerializer(serializers.Serializer[Summary]):
    openapi_example: ClassVar[dict[str, Any]] = {
        "from": "2026-05-01",
        "to": "2026-05-01",
        "totals": {event.value: int(event == KnownEvent.TRIGGER_CLICK) for event in KnownEvent},
        "events": {},
        "uniqueVisitors": 1,
        "clickRate": None,
    }
    embedId = serializers.UUIDField(source="embed_id")
    to = serializers.DateField(source="last", help_text="The last day.")
    totals = _counts("The known events.")
    events = _counts("Custom ones; `_other` sums those beyond 50 a day.")
    uniqueVisitors = serializers.IntegerField(source="unique_visitors", help_text="The sum of the days.")
    clickRate = serializers.FloatField(source="click_rate", allow_null=True, help_text="Clicks per view.")
    days = DaySerializer(source="by_day", many=True, help_text="Oldest first.")
    pages = PageSerializer(source="by_page", many=True, help_text="Busiest first.")

    def get_fields(self) -> dict[str, Any]:
        # `from` cannot be written as a class attribute.
        fields = super().get_fields()
        return {
            "embedId": fields.pop("embedId"),
            "from": serializers.DateField(source="first", help_text="The first day."),
            **fields,
        }
