"""The forms that change a site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from account_area.forms import MultilineField
from account_area.sites.editing import EditForm
from account_area.sites.forms import DomainsField, PatternsField, ShowsField, WordsField
from account_area.sites.queries import CommunityField
from embeds.models import DESCRIPTION_MAX, NAME_MAX, TRIGGER_MESSAGE_MAX, Embed, EmbedMode
from embeds.serializers.inputs import BlacklistBody, EmbedChanges
from kernel.api.serializers import validated

COLOR = r"^#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})\Z"


# The choice of the discussion in the page, among the types of the trigger.
IN_PAGE = "in-page"


class LookForm(EditForm):
    parts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        name: ("triggerConfig", name) for name in ("type", "position", "size", "color", "message")
    }
    api_fields: Mapping[str, str] = {}

    type = forms.ChoiceField(
        label=_("Style"),
        widget=forms.RadioSelect,
        choices=[
            (IN_PAGE, _("Inline: the conversation itself, in your article")),
            ("corner-tab", _("A tab at the edge of the window")),
            ("bubble", _("A round button")),
            ("inline", _("A button in the text, where the code is")),
        ],
    )
    position = forms.ChoiceField(
        label=_("Corner"),
        choices=[
            ("bottom-right", _("Bottom right")),
            ("bottom-left", _("Bottom left")),
            ("top-right", _("Top right")),
            ("top-left", _("Top left")),
        ],
    )
    size = forms.ChoiceField(
        label=_("Size"), choices=[("small", _("Small")), ("medium", _("Medium")), ("large", _("Large"))]
    )
    color = forms.RegexField(COLOR, label=_("Colour"), widget=forms.TextInput(attrs={"type": "color"}))
    message = forms.CharField(
        label=_("Button text"),
        max_length=TRIGGER_MESSAGE_MAX,
        required=False,
        help_text=_("Without a text of yours, it says “Discussion” in the language of the reader."),
    )

    def values_of(self, embed: Embed) -> dict[str, Any]:
        look = embed.trigger_config
        shown = {"type": IN_PAGE if embed.is_inline else look["type"], "color": long_color(look["color"])}
        return {name: look[name] for name in self.parts} | shown

    def clean_color(self) -> str:
        return long_color(self.cleaned_data["color"])

    def checked(self, body: Mapping[str, Any]) -> dict[str, Any]:
        look = dict(body["triggerConfig"])
        if "type" not in look:
            return super().checked(body)
        # The mode is no field of the API: there, it is an attribute in the owner's page.
        is_in_page = look["type"] == IN_PAGE
        if is_in_page:
            del look["type"]
        mode = EmbedMode.INLINE if is_in_page else EmbedMode.PANEL
        sent = validated(EmbedChanges, {"triggerConfig": look})["trigger_config"]
        return {"trigger_config": {**sent, "mode": mode.value}}


class SettingsForm(EditForm):
    parts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "name": ("name",),
        "description": ("description",),
        "community": ("communityId",),
        "shows": ("shows",),
        "whitelist": ("domainWhitelist",),
        "blacklist": ("domainBlacklist",),
    }
    api_fields: Mapping[str, str] = {
        "communityId": "community",
        "domainWhitelist": "whitelist",
        "domains": "blacklist",
    }

    name = forms.CharField(label=_("Name of the site"), max_length=NAME_MAX)
    description = MultilineField(
        label=_("Notes"), max_length=DESCRIPTION_MAX, required=False, rows=3, help_text=_("For you alone.")
    )
    community = CommunityField(help_text=_("New posts belong to it. Posts that exist stay where they are."))
    shows = ShowsField()
    whitelist = DomainsField(
        label=_("Domains of the site"),
        help_text=_(
            "One a line. example.com includes www.example.com; *.example.com is every other subdomain. "
            "Without an entry, every domain may show it."
        ),
    )
    blacklist = DomainsField(
        label=_("Domains that are refused"), help_text=_("They are refused even if an entry above includes them.")
    )

    def __init__(self, embed: Embed, data: QueryDict | None = None) -> None:
        super().__init__(embed, data)
        self.fields["community"].suggest_for(embed.owner, present=embed.community)  # type: ignore[attr-defined]

    def values_of(self, embed: Embed) -> dict[str, Any]:
        return {
            "name": embed.name,
            "description": embed.description.replace("\r\n", "\n"),
            "community": embed.community.slug,
            "shows": embed.shows,
            "whitelist": embed.domain_whitelist,
            "blacklist": embed.domain_blacklist,
        }

    def sent(self, name: str, value: Any) -> Any:
        return str(self.fields["community"].community.pk) if name == "community" else value  # type: ignore[attr-defined]

    def checked(self, body: Mapping[str, Any]) -> dict[str, Any]:
        rest = {name: value for name, value in body.items() if name != "domainBlacklist"}
        if "domainBlacklist" not in body:
            return validated(EmbedChanges, rest)
        domains = validated(BlacklistBody, {"domains": body["domainBlacklist"]})["domains"]
        return validated(EmbedChanges, rest) | {"domain_blacklist": domains}


class PagesForm(EditForm):
    parts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "rule": ("pageRules", "type"),
        "patterns": ("pageRules", "patterns"),
    }
    api_fields: Mapping[str, str] = {"pageRules": "patterns"}

    rule = forms.ChoiceField(
        label=_("Where it is shown"),
        widget=forms.RadioSelect,
        choices=[
            ("all", _("On all pages")),
            ("patterns", _("Only on the pages below")),
            ("exclude", _("On all pages but those below")),
        ],
    )
    patterns = PatternsField(
        label=_("Pages"), help_text=_("One path a line; * is any text. /blog/* is every page of the blog.")
    )

    def values_of(self, embed: Embed) -> dict[str, Any]:
        return {"rule": embed.page_rules["type"], "patterns": embed.page_rules["patterns"]}


class WordsForm(EditForm):
    parts: ClassVar[Mapping[str, tuple[str, ...]]] = {"words": ("blockedWords",)}
    api_fields: Mapping[str, str] = {"blockedWords": "words"}

    words = WordsField(
        label=_("Blocked words"),
        help_text=_(
            "One word or phrase a line; spam* is every word that begins so. A post with one of them is refused. "
            "Those of the community apply as well."
        ),
    )

    def values_of(self, embed: Embed) -> dict[str, Any]:
        return {"words": embed.blocked_words}


def long_color(color: str) -> str:
    """`#rrggbb` in lower case, as browsers send it."""
    color = color.lower()
    return color if len(color) != 4 else "#" + "".join(digit * 2 for digit in color[1:])
