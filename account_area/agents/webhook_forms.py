"""The form of a new webhook of an agent."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from account_area.agents.texts import EVENTS
from account_area.submissions import OnceForm
from kernel.api.serializers import validated
from messaging.models.webhook import URL_MAX
from messaging.webhooks.serializers import NewWebhook


class WebhookForm(OnceForm):
    url = forms.CharField(
        label=_("Address"),
        max_length=URL_MAX,
        widget=forms.URLInput(attrs={"placeholder": "https://"}),
        help_text=_("https, reachable from the internet. Each event is sent there with a signature."),
    )
    types = forms.MultipleChoiceField(
        label=_("Events (optional)"),
        choices=list(EVENTS.items()),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_("Select none for all of them."),
    )

    def __init__(self, *args: Any, agent_id: object, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.agent_id = agent_id

    def clean(self) -> dict[str, Any]:
        """The arguments of `create_webhook` under the key `arguments`, by the rules of the API."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            body = {"url": cleaned["url"], "types": cleaned["types"], "agentId": str(self.agent_id)}
            cleaned["arguments"] = self.carry_out(validated, serializer=NewWebhook, data=body)
        return cleaned
