"""The forms that create a site, and those that try something.

Form fields of sites: lists with one entry a line, and the address of a page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from account_area.forms import WORD_FAULTS, AccountForm, MultilineField
from account_area.sites.checks import CODE_MAX
from account_area.sites.editing import EditForm
from account_area.sites.queries import CommunityField
from account_area.submissions import OnceForm
from embeds.checkup import ADDRESS_MAX, NoAddress, parts_of
from embeds.domains import InvalidDomain, is_loopback, normalize_entry
from embeds.models import (
    DOMAIN_MAX,
    DOMAINS_MAX,
    NAME_MAX,
    PATTERN_MAX,
    PATTERNS_MAX,
    WORD_MAX,
    WORDS_MAX,
    Embed,
    EmbedMode,
    Shows,
)
from embeds.serializers.inputs import NewEmbed
from embeds.services import create_embed
from kernel.api.serializers import validated
from messaging.communities.services import create_community, may_create
from messaging.models import Account, Community
from messaging.models.message import CONTENT_MAX
from messaging.word_lists import InvalidWord, check_words
from messaging.word_lists.entries import parse_entry

TEXT_MAX = 700_000


class LinesField(forms.CharField):
    """A list of strings, one a line; `check` returns an entry as it is stored, or raises ValidationError."""

    def __init__(self, *, check: Callable[[str], str], entries_max: int, rows: int = 6, **options: Any) -> None:
        attributes = {"rows": rows, "spellcheck": "false", "autocapitalize": "off"}
        super().__init__(max_length=TEXT_MAX, required=False, widget=forms.Textarea(attrs=attributes), **options)
        self.check, self.entries_max = check, entries_max

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        lines = [line.strip() for line in super().clean(value).splitlines()]
        entries = list(dict.fromkeys(self._checked(number, line) for number, line in enumerate(lines, 1) if line))
        if len(entries) > self.entries_max:
            raise ValidationError(
                ngettext_lazy("At most %(count)s line.", "At most %(count)s lines.", self.entries_max)
                % {"count": self.entries_max}
            )
        return entries

    def _checked(self, number: int, line: str) -> str:
        try:
            return self.check(line)
        except ValidationError as failure:
            raise ValidationError(
                gettext("Line %(number)s: %(reason)s") % {"number": number, "reason": failure.messages[0]}
            ) from None


class DomainsField(LinesField):
    def __init__(self, **options: Any) -> None:
        super().__init__(check=domain_entry, entries_max=DOMAINS_MAX, rows=4, **options)


class PatternsField(LinesField):
    def __init__(self, **options: Any) -> None:
        super().__init__(check=_pattern, entries_max=PATTERNS_MAX, **options)


class WordsField(LinesField):
    def __init__(self, **options: Any) -> None:
        super().__init__(check=_word, entries_max=WORDS_MAX, rows=10, **options)

    def clean(self, value: Any) -> list[str]:
        words = super().clean(value)
        try:
            check_words(words)
        except InvalidWord as failure:
            raise ValidationError(WORD_FAULTS[failure.fault]) from None
        return words


class AddressField(forms.CharField):
    """The address of a page or a site; without a scheme it is https, and http on the local machine."""

    def __init__(self, **options: Any) -> None:
        attributes = {"inputmode": "url", "autocapitalize": "off", "spellcheck": "false", "placeholder": "example.com"}
        super().__init__(max_length=ADDRESS_MAX, widget=forms.TextInput(attrs=attributes), **options)

    def clean(self, value: Any) -> str:
        address = with_scheme(super().clean(value))
        if address:
            try:
                parts_of(address)
            except NoAddress:
                raise ValidationError(_("Write the address of a web page, such as https://example.com/blog.")) from None
        return address


class ShowsField(forms.ChoiceField):
    """Whose posts the widget shows."""

    def __init__(self, **options: Any) -> None:
        choices = [
            (Shows.COMMUNITY.value, _("Only posts of my community")),
            (
                Shows.EVERYONE.value,
                _(
                    "Everything that is written about this page, also by others; you can hide it on your pages, but "
                    "their rules are not yours"
                ),
            ),
        ]
        super().__init__(label=_("What the widget shows"), widget=forms.RadioSelect, choices=choices, **options)


def with_scheme(address: str) -> str:
    if not address or "://" in address:
        return address
    try:
        is_local = is_loopback(parts_of(f"http://{address}")[0])
    except NoAddress:
        is_local = False
    return f"{'http' if is_local else 'https'}://{address}"


def domain_entry(line: str) -> str:
    """The stored form of a domain; of a whole address, its host."""
    try:
        host = parts_of(line)[0] if "://" in line else line
        entry = normalize_entry(host)
    except (NoAddress, InvalidDomain):
        raise ValidationError(_("Write a domain, such as example.com or *.example.com.")) from None
    if len(entry) > DOMAIN_MAX:
        raise ValidationError(_("This is too long."))
    return entry


def _pattern(line: str) -> str:
    """Only the path of a whole address can match."""
    if "://" in line:
        line = "/" + line.split("://", 1)[1].partition("/")[2]
    if len(line) > PATTERN_MAX:
        raise ValidationError(_("This is too long."))
    if not line.startswith(("/", "*")):
        raise ValidationError(_("A path starts with / or *, such as /blog/*."))
    return line


def _word(line: str) -> str:
    if len(line) > WORD_MAX:
        raise ValidationError(_("This is too long."))
    try:
        parse_entry(line)
    except InvalidWord as failure:
        raise ValidationError(WORD_FAULTS[failure.fault]) from None
    return line


NEW, EXISTING = "new", "existing"


class FirstStepForm(AccountForm):
    """The first step of the creation of a site: before there is one, and when its owner goes back."""

    api_fields: Mapping[str, str] = {"domainWhitelist": "address", "communityId": "community", "slug": "name"}

    name = forms.CharField(
        label=_("Name of the site"), max_length=NAME_MAX, widget=forms.TextInput(attrs={"autocomplete": "organization"})
    )
    address = AddressField(
        label=_("Address of the site"),
        help_text=_("The conversation is shown on this domain alone. You can add others later."),
    )
    community_choice = forms.ChoiceField(
        label=_("Community"),
        widget=forms.RadioSelect,
        initial=NEW,
        choices=[(NEW, _("A new one with the name of the site; you moderate it")), (EXISTING, _("One that exists"))],
    )
    community = CommunityField(required=False, help_text=_("Its name, or one of the list."))
    shows = ShowsField(initial=Shows.COMMUNITY.value)

    def offer_communities(self, owner: Account, *, present: Community | None = None) -> None:
        self.fields["community"].label = _("Which community")
        self.fields["community"].suggest_for(owner, present=present)  # type: ignore[attr-defined]
        if not may_create(owner):
            del self.fields["community_choice"]

    def clean_address(self) -> str:
        """The entry of the whitelist."""
        return domain_entry(parts_of(self.cleaned_data["address"])[0].removeprefix("www."))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.is_new_community and not cleaned.get("community") and "community" not in self.errors:
            self.add_error("community", _("Choose a community."))
        if self.is_new_community:
            self.errors.pop("community", None)
            cleaned["community"] = ""
        return cleaned

    @property
    def is_new_community(self) -> bool:
        return "community_choice" in self.fields and self.cleaned_data.get("community_choice") != EXISTING

    def community_id(self, owner: Account) -> str:
        """The id of the chosen community, which is created if it is new."""
        if self.is_new_community:
            return str(create_community(owner=owner, name=self.cleaned_data["name"]).pk)
        return str(self.fields["community"].community.pk)  # type: ignore[attr-defined]


class NewSiteForm(FirstStepForm, OnceForm):
    def __init__(self, owner: Account, data: QueryDict | None = None) -> None:
        super().__init__(data)
        self.owner = owner
        self.offer_communities(owner)

    def create(self) -> str | None:
        """Create the site, and its community if that is new. Returns the page of the next step."""
        return self.submit_once(self.owner, self._create)

    def _create(self) -> str:
        body = validated(
            NewEmbed,
            {
                "name": self.cleaned_data["name"],
                "communityId": self.community_id(self.owner),
                "domainWhitelist": [self.cleaned_data["address"]],
                "shows": self.cleaned_data["shows"],
            },
        )
        # The first choice of the next step.
        embed = create_embed(owner=self.owner, trigger_config={"mode": EmbedMode.INLINE.value}, **body)
        return reverse("site-look", args=[embed.pk]) + "?new=1"


class StartedSiteForm(FirstStepForm, EditForm):
    """The first step of a site that exists: a new community is created only if it is chosen now."""

    parts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "name": ("name",),
        "address": ("domainWhitelist",),
        "community": ("communityId",),
        "shows": ("shows",),
    }

    def __init__(self, embed: Embed, data: QueryDict | None = None) -> None:
        super().__init__(embed, data)
        self.initial["community_choice"] = EXISTING
        self.offer_communities(embed.owner, present=embed.community)

    def values_of(self, embed: Embed) -> dict[str, Any]:
        return {
            "name": embed.name,
            "address": _address_of(embed),
            "community": embed.community.slug,
            "shows": embed.shows,
        }

    def changes(self, current: Mapping[str, Any]) -> dict[str, Any]:
        changed = super().changes(current)
        return changed | {"community": ""} if self.is_new_community else changed

    def sent(self, name: str, value: Any) -> Any:
        if name == "community":
            return self.community_id(self.embed.owner)
        if name == "address":
            former = (value, _address_of(self.embed))
            return [value, *(entry for entry in self.embed.domain_whitelist if entry not in former)]
        return value


def _address_of(embed: Embed) -> str:
    """The first domain of a site that is no pattern."""
    return next((entry for entry in embed.domain_whitelist if not entry.startswith("*.")), "")


class AddressForm(AccountForm):
    """The page that a check-up is about."""

    address = AddressField(label=_("Address of the page"))


class TryWordsForm(AccountForm):
    text = MultilineField(label=_("Text"), max_length=CONTENT_MAX, strip=False, rows=4)


class CodeForm(AccountForm):
    """The HTML of a page, to compare with the code of the site."""

    html = forms.CharField(
        label=_("The code on your page, or the whole source of the page"),
        max_length=CODE_MAX,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
    )
