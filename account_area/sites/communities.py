"""The community of a site in a form: named by its address (slug) or its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from account_area.sites.queries import communities_called, may_embed, suggested_communities
from messaging.models import Account, Community
from messaging.models.community import NAME_MAX


class CommunityInput(forms.TextInput):
    """A text with suggestions; other communities can be typed."""

    template_name = "account_area/sites/community_input.html"
    suggestions: Sequence[Community] = ()

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        context["suggestions"] = self.suggestions
        context["widget"]["attrs"]["list"] = f"{context['widget']['attrs'].get('id')}_list"
        return context


class CommunityField(forms.CharField):
    """Cleans to the slug of a community. `community` is the one that was found."""

    community: Community | None = None
    present: Community | None = None
    account: Account

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=NAME_MAX, widget=CommunityInput(), label=_("Community"), **options)

    def suggest_for(self, account: Account, *, present: Community | None = None) -> None:
        """Offer the communities that the account moderates, then others that are open. Of one name, its own is meant.

        `present`: what the form is filled with, which its slug always means.
        """
        self.account, self.present = account, present
        self.widget.suggestions = suggested_communities(account)

    def clean(self, value: Any) -> str:
        text = super().clean(value)
        if not text:
            return ""
        present = [self.present] if self.present and text == self.present.slug else []
        found = present or communities_called(text, by=self.account)
        if not found:
            raise ValidationError(_("There is no such community."))
        if len(found) > 1:
            raise ValidationError(_("Several communities have this name. Choose one of the list."))
        self.community = found[0]
        if self.community != self.present and not may_embed(self.account, self.community):
            text = _("Only its moderators may choose “%(name)s”. Ask one to add you, or choose another community.")
            raise ValidationError(text, params={"name": self.community.name})
        return self.community.slug
