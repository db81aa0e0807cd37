"""Request bodies and queries of the operations of embeds."""

from __future__ import annotations

import re
from datetime import date
from typing import Any, ClassVar

from rest_framework import serializers

from embeds import models as caps
from embeds.analytics.ingest import EVENT_NAME
from embeds.domains import ENTRY_MAX, InvalidDomain, normalize_entry
from embeds.models import EmbedStatus, PageRuleType, Shows, SignInMode, TriggerPosition, TriggerSize, TriggerType
from embeds.widget.locales import LANGUAGES
from kernel.admin.actions import REASON_MAX
from kernel.api.fields import Choice, Id, ListOf, Text
from kernel.api.openapi.example_values import ID
from kernel.api.serializers import BodySerializer, QuerySerializer
from messaging.pages.page_ids import URL_MAX
from messaging.serializer_fields import EXAMPLE_PAGE_URL, Name, PageUrl, WebUrl
from messaging.word_lists import InvalidWord, check_words
from messaging.word_lists.entries import parse_entry

DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


class EmbedConfigQuery(QuerySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"lang": "en"}
    lang = Choice(choices=LANGUAGES, required=False, help_text="Adds what the loader shows in this language.")


class DomainText(Text):
    """A host with an optional port; the prefix `*.` means its subdomains. Returns the normalised form."""

    default_error_messages = {"domain": "Not a host such as example.com, *.example.com or localhost:3000."}

    def to_internal_value(self, data: Any) -> str:
        try:
            return normalize_entry(super().to_internal_value(data))
        except InvalidDomain:
            self.fail("domain")


class DomainList(ListOf):
    """Normalised domains in the order of the request, without duplicates."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=DomainText(trim=True, max_length=ENTRY_MAX), max_length=caps.DOMAINS_MAX, **kwargs)

    def run_validation(self, data: Any = serializers.empty) -> list[str]:
        """Remove duplicates after validation: the maximum length applies to the list as sent."""
        return list(dict.fromkeys(super().run_validation(data)))


class BlockedWord(Text):
    """An entry of a word list (see `messaging.word_lists`)."""

    default_error_messages = {"word": "{why}"}

    def to_internal_value(self, data: Any) -> str:
        word = super().to_internal_value(data)
        try:
            parse_entry(word)
        except InvalidWord as failure:
            self.fail("word", why=str(failure))
        return word


class BlockedWords(ListOf):
    default_error_messages = {"words": "{why}"}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=BlockedWord(max_length=caps.WORD_MAX), max_length=caps.WORDS_MAX, **kwargs)

    def to_internal_value(self, data: Any) -> list[str]:
        words = super().to_internal_value(data)
        try:
            check_words(words)
        except InvalidWord as failure:
            self.fail("words", why=str(failure))
        return words


class PageRulesBody(BodySerializer):
    type = Choice(choices=PageRuleType.choices, help_text="`all` pages, or by `patterns`.")
    patterns = ListOf(
        child=Text(max_length=caps.PATTERN_MAX),
        max_length=caps.PATTERNS_MAX,
        required=False,
        help_text="Paths; `*` matches any run of characters.",
    )


class PageRulesChanges(PageRulesBody):
    type = Choice(choices=PageRuleType.choices, required=False, help_text="`all` pages, or by `patterns`.")


class TriggerConfigBody(BodySerializer):
    type = Choice(choices=TriggerType.choices, required=False, help_text="Its form.")
    position = Choice(choices=TriggerPosition.choices, required=False, help_text="Its corner.")
    message = Text(max_length=caps.TRIGGER_MESSAGE_MAX, allow_blank=True, required=False, help_text="Its text.")
    color = Text(pattern=caps.COLOR, required=False, help_text="`#rgb` or `#rrggbb`.")
    size = Choice(choices=TriggerSize.choices, required=False, help_text="Its size.")


class EmbedOptions(BodySerializer):
    description = Text(max_length=caps.DESCRIPTION_MAX, allow_blank=True, required=False, help_text="For you.")
    domainWhitelist = DomainList(source="domain_whitelist", required=False, help_text="Empty: any domain.")
    triggerConfig = TriggerConfigBody(source="trigger_config", required=False, help_text="What opens it.")
    status = Choice(choices=EmbedStatus.choices, required=False, help_text="An owner may set `active` or `paused`.")
    shows = Choice(choices=Shows.choices, required=False, help_text="Posts of its `community`, or of `everyone`.")
    blockedWords = BlockedWords(source="blocked_words", required=False, help_text="Added to those of the community.")
    signIn = Choice(
        source="sign_in",
        choices=SignInMode.choices,
        required=False,
        help_text="By accounts of the site (`own`), of this `service`, or `both`; moderators of the community choose.",
    )
    signInUrl = WebUrl(
        source="sign_in_url",
        max_length=caps.ADDRESS_MAX,
        required=False,
        allow_blank=True,
        help_text="Where the site signs in.",
    )
    jwksUrl = WebUrl(
        source="jwks_url",
        max_length=caps.ADDRESS_MAX,
        required=False,
        allow_blank=True,
        help_text="Public keys of the site, https.",
    )


class NewEmbed(EmbedOptions):
    openapi_base = EmbedOptions
    openapi_example: ClassVar[dict[str, Any]] = {
        "name": "Article pages",
        "communityId": ID,
        "domainWhitelist": ["example.com"],
    }
    name = Name(max_length=caps.NAME_MAX, help_text="For you, and for moderators of the community.")
    communityId = Id(source="community_id", help_text="Of its posts. Its rule `embedding` says who may choose it.")
    pageRules = PageRulesBody(source="page_rules", required=False, help_text="Where it is shown.")


class EmbedChanges(NewEmbed):
    """What is absent stays, also in `pageRules` and `triggerConfig`."""

    openapi_example: ClassVar[dict[str, Any]] = {"name": "Article pages", "triggerConfig": {"color": "#2f5bd0"}}

    pageRules = PageRulesChanges(source="page_rules", required=False, help_text="Where it is shown.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, partial=True, **kwargs)


class BlacklistBody(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"domains": ["ads.example.com"]}
    domains = DomainList(help_text="Hosts, with or without `*.`.")


class EndingReason(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": "It is on a page of advertisements."}
    reason = Text(
        trim=True, max_length=REASON_MAX, required=False, allow_blank=True, default="", help_text="For the moderators."
    )


class NewEvent(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"serviceId": ID, "event": "trigger_click", "pageUrl": EXAMPLE_PAGE_URL}
    serviceId = Text(source="embed_id", max_length=64, help_text="The embed's id.")
    event = Text(pattern=EVENT_NAME, help_text="Known, as `trigger_click`, or custom.")
    pageUrl = PageUrl(source="page_url", max_length=URL_MAX, help_text="Of the page; its query is not stored.")


class Day(serializers.DateField):
    """A day in the form YYYY-MM-DD; DRF accepts more forms."""

    def to_internal_value(self, value: Any) -> date:
        if not isinstance(value, str) or not DAY.match(value):
            self.fail("invalid", format="YYYY-MM-DD")
        return super().to_internal_value(value)


class SummaryQuery(QuerySerializer):
    to = Day(source="last", required=False, help_text="Last day; absent: today.")
    format = Choice(choices=["json", "csv"], default="json", help_text="`csv` has a row for each day.")

    def get_fields(self) -> dict[str, Any]:
        # `from` cannot be written as a class attribute.
        first = Day(source="first", required=False, help_text="First day (UTC); absent: 29 days before `to`.")
        return {"from": first} | super().get_fields()
