"""The forms of a program's code: its field, and the agent that gets the token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from account_area.agents.forms import RequestForm
from account_area.forms import AccountForm
from agents.models import Agent
from oauth.models import DeviceGrant


class CodeForm(AccountForm):
    user_code = forms.CharField(
        label=_("Code"),
        max_length=40,
        help_text=_("Nine letters that the program shows."),
        widget=forms.TextInput(
            attrs={"autocapitalize": "characters", "autocomplete": "off", "spellcheck": "false", "dir": "ltr"}
        ),
    )


class AgentCodeForm(RequestForm):
    """The request as the program wrote it, to be corrected; or an own agent, which needs no request."""

    agent = forms.ChoiceField(label=_("Which agent gets the token?"), required=False, widget=forms.RadioSelect)

    def __init__(self, *args: Any, grant: DeviceGrant, own: Sequence[Agent], **kwargs: Any) -> None:
        by_handle = {each.account.handle: each for each in own}
        asked = {
            "agent": grant.handle if grant.handle in by_handle else "",
            "agent_name": grant.client_name,
            "agent_handle": grant.handle,
            "purpose": grant.purpose,
            "scopes": grant.scopes,
            "communities": [str(pk) for pk in grant.community_ids],
        }
        super().__init__(*args, initial=asked, **kwargs)
        self.own = by_handle
        offered: Any = self.fields["agent"]
        named = [(handle, f"@{handle} · {each.account.name}") for handle, each in by_handle.items()]
        offered.choices = [("", _("A new agent, on which a super admin decides")), *named]
        if not own:
            offered.widget = forms.HiddenInput()
        if self.is_bound and self.data.get("agent"):
            for name in set(self.fields) - {"agent", "submission"}:
                self.fields[name].required = False
                self.fields[name].disabled = True

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = self.cleaned_data
        if not self.data.get("agent"):
            return super().clean()
        cleaned["own_agent"] = self.own.get(cleaned.get("agent", ""))
        return cleaned
