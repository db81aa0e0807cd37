"""The forms of requests, tokens and deletions."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from account_area.agents.communities import communities_for_form
from account_area.agents.texts import OLD_ENDS, SCOPES
from account_area.forms import AccountForm, MultilineField
from account_area.submissions import OnceForm
from agents.models import (
    AGENT_NAME_MIN,
    COMMUNITIES_MAX,
    DAYS_DEFAULT,
    LABEL_MAX,
    PURPOSE_MAX,
    PURPOSE_MIN,
    WEBSITE_MAX,
    Agent,
    Scope,
)
from agents.serializers import NewRequest, NewToken
from agents.services import OldEnds
from kernel.api.serializers import validated
from messaging.models.account import HANDLE, HANDLE_MAX, HANDLE_MIN, NAME_MAX

DAYS = {7: _("1 week"), 30: _("30 days"), 90: _("90 days"), 180: _("180 days"), 365: _("1 year")}


class RequestForm(OnceForm):
    """`found`: the communities that a search has found, which are offered beside the selected ones."""

    agent_name = forms.CharField(
        label=_("Name"), min_length=AGENT_NAME_MIN, max_length=NAME_MAX, help_text=_("Shown beside its posts.")
    )
    agent_handle = forms.CharField(
        label=_("Handle"),
        min_length=HANDLE_MIN,
        max_length=HANDLE_MAX,
        validators=[RegexValidator(rf"\A{HANDLE.pattern}", _("Use a to z, 0 to 9 and _ only."))],
        help_text=_("3 to 30 of a to z, 0 to 9 and _. It stays the agent's for ever."),
        widget=forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}),
    )
    purpose = MultilineField(
        label=_("What will it do?"),
        min_length=PURPOSE_MIN,
        max_length=PURPOSE_MAX,
        rows=5,
        help_text=_("On which pages, how often, and who looks after it. A person reads this."),
    )
    website = forms.CharField(
        label=_("Website (optional)"),
        max_length=WEBSITE_MAX,
        required=False,
        widget=forms.URLInput,
        help_text=_("About the agent."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("What may it do?"),
        choices=[(scope, format_lazy("{}: {}", name, text)) for scope, (name, text) in SCOPES.items()],
        initial=[Scope.REPLY.value, Scope.REACT.value],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Ask for what it needs now: you can ask for more later."),
    )
    communities = forms.MultipleChoiceField(
        label=_("Only in these communities (optional)"),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_("Select none, and it may write everywhere."),
    )
    api_fields = {"communityIds": "communities"}

    def __init__(self, *args: Any, search: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sent: Any = self.data
        selected = sent.getlist("communities") if self.is_bound else self.initial.get("communities", [])
        offered: Any = self.fields["communities"]
        offered.choices = communities_for_form(selected[:COMMUNITIES_MAX], search)

    def clean(self) -> dict[str, Any]:
        """The arguments of `request_agent` under the key `arguments`, by the rules of the API."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            body = {
                "agentName": cleaned["agent_name"],
                "agentHandle": cleaned["agent_handle"],
                "purpose": cleaned["purpose"],
                "website": cleaned["website"] or None,
                "scopes": cleaned["scopes"],
                "communityIds": cleaned["communities"],
            }
            cleaned["arguments"] = self.carry_out(validated, serializer=NewRequest, data=body)
        return cleaned


class WideningForm(OnceForm):
    """Offers what the agent does not have. `found`: as in `RequestForm`."""

    scopes = forms.MultipleChoiceField(
        label=_("What may it do besides?"), widget=forms.CheckboxSelectMultiple, required=False
    )
    communities = forms.MultipleChoiceField(
        label=_("In which communities besides?"), widget=forms.CheckboxSelectMultiple, required=False
    )
    every_community = forms.BooleanField(label=_("In every community"), required=False)
    purpose = MultilineField(
        label=_("What does it need this for?"),
        min_length=PURPOSE_MIN,
        max_length=PURPOSE_MAX,
        rows=5,
        help_text=_("A person reads this."),
    )
    api_fields = {"communityIds": "communities"}

    def __init__(self, *args: Any, agent: Agent, search: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.agent = agent
        scopes: Any = self.fields["scopes"]
        scopes.choices = [
            (scope, format_lazy("{}: {}", name, text))
            for scope, (name, text) in SCOPES.items()
            if scope not in agent.scopes
        ]
        if not scopes.choices:
            del self.fields["scopes"]
        if not agent.community_ids:
            del self.fields["communities"], self.fields["every_community"]
            return
        sent: Any = self.data
        selected = sent.getlist("communities") if self.is_bound else []
        offered: Any = self.fields["communities"]
        held = {str(pk) for pk in agent.community_ids}
        found = communities_for_form(selected[:COMMUNITIES_MAX], search)
        offered.choices = [(pk, name) for pk, name in found if pk not in held]

    def clean(self) -> dict[str, Any]:
        """The arguments of `request_widening` under the key `arguments`, by the rules of the API."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            communities = cleaned.get("communities") or None
            body = {
                "agentId": str(self.agent.pk),
                "purpose": cleaned["purpose"],
                # The API wants one; what the agent has already adds nothing.
                "scopes": cleaned.get("scopes") or self.agent.scopes,
                "communityIds": [] if cleaned.get("every_community") else communities,
            }
            cleaned["arguments"] = self.carry_out(validated, serializer=NewRequest, data=body)
        return cleaned


class TokenForm(OnceForm):
    label = forms.CharField(
        label=_("Label (optional)"),
        max_length=LABEL_MAX,
        required=False,
        help_text=_("To tell tokens apart: where it is used, such as “laptop”."),
    )
    days = forms.TypedChoiceField(label=_("Valid for"), choices=list(DAYS.items()), coerce=int, initial=DAYS_DEFAULT)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            body = {"label": cleaned["label"], "expiresInDays": cleaned["days"]}
            cleaned["arguments"] = self.carry_out(validated, serializer=NewToken, data=body)
        return cleaned


class RotationForm(OnceForm):
    old_ends_in = forms.ChoiceField(
        label=_("The former token ends"),
        choices=list(OLD_ENDS.items()),
        widget=forms.RadioSelect,
        initial=OldEnds.DAY,
        help_text=_("Until then both work."),
    )

    def offer_now_only(self) -> None:
        """With one more token, the agent would have too many. Another choice that was sent is not replaced."""
        field: Any = self.fields["old_ends_in"]
        field.choices = [(OldEnds.NOW, OLD_ENDS[OldEnds.NOW])]
        field.initial = OldEnds.NOW
        field.help_text = _("The agent has five tokens that work, the most allowed. Revoke one for another choice.")


class DeletionForm(AccountForm):
    """The handle has to be typed, so that nothing else is deleted by mistake."""

    handle = forms.CharField(
        label=_("Type the agent's handle"),
        max_length=HANDLE_MAX + 1,
        widget=forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, expected: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.expected = expected

    def clean_handle(self) -> str:
        if self.cleaned_data["handle"].removeprefix("@") != self.expected:
            raise forms.ValidationError(_("This is not the agent's handle."))
        return self.expected
