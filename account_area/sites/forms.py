"""The forms that create a site, and those that try something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from account_area.fields import MultilineField
from account_area.forms import AccountForm
from account_area.sites.code_check import CODE_MAX
from account_area.sites.communities import CommunityField
from account_area.sites.editing import EditForm
from account_area.sites.fields import AddressField, ShowsField, domain_entry
from account_area.submissions import OnceForm
from embeds.checkup import parts_of
from embeds.models import Embed, Shows
from embeds.models.embed import NAME_MAX, EmbedMode
from embeds.serializers.inputs import NewEmbed
from embeds.services import create_embed
from kernel.api.serializers import validated
from messaging.communities.services import create_community, may_create
from messaging.models import Account, Community
from messaging.models.message import CONTENT_MAX

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
