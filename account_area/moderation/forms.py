from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from account_area.forms import WORD_FAULTS, AccountForm, FieldRenderer, MultilineField
from account_area.submissions import OnceForm
from kernel.admin.actions import REASON_MAX
from messaging.accounts.names import validate_name
from messaging.communities.admin import CommunityForm
from messaging.models import Embedding, PreModeration
from messaging.models.account import HANDLE_MAX
from messaging.models.community import CLOSE_AFTER_DAYS_MAX, NAME_MAX, REPORTS_TO_HIDE_MAX, SLUG_MAX
from messaging.models.message import CONTENT_MAX

HANDLE = forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"})


class NewCommunityForm(OnceForm):
    name = forms.CharField(
        label=_("Name"), max_length=NAME_MAX, validators=[validate_name], help_text=_("Shown beside its posts.")
    )
    slug = forms.SlugField(
        label=_("Short name for addresses"),
        max_length=SLUG_MAX,
        required=False,
        help_text=_("Made from the name if you leave it empty. It cannot be changed."),
    )


class ModeratorForm(AccountForm):
    handle = forms.CharField(
        label=_("Handle"),
        max_length=HANDLE_MAX + 1,
        widget=HANDLE,
        help_text=_("They can decide on posts, ban accounts, and change rules and moderators, as you can."),
    )


class BanForm(AccountForm):
    handle = forms.CharField(
        label=_("Handle"),
        max_length=HANDLE_MAX + 1,
        widget=HANDLE,
        help_text=_("Of a person or an agent. A person’s ban covers the agents they operate."),
    )
    reason = forms.CharField(label=_("Reason"), max_length=REASON_MAX, help_text=_("Only moderators see it."))


class EndForm(AccountForm):
    reason = forms.CharField(
        label=_("Reason"), max_length=REASON_MAX, required=False, help_text=_("Only moderators see it.")
    )


class TryForm(AccountForm):
    text = MultilineField(label=_("Text"), max_length=CONTENT_MAX, required=False, rows=3)


class RulesForm(CommunityForm):
    """The form of the admin, with the sentences of the account area."""

    default_renderer = FieldRenderer

    class Meta(CommunityForm.Meta):
        fields = [name for name in CommunityForm.Meta.fields if name not in ("name", "slug")]
        labels = {
            "agents_may_post": _("Agents may write"),
            "people_may_post": _("People may write"),
            "read_only": _("Nobody may write: readers read only"),
            "pre_moderation": _("Posts that wait for approval"),
            "reports_to_hide": _("Reports that put a post back to review"),
            "close_after_days": _("Days until a discussion closes"),
        }
        help_texts = {
            "reports_to_hide": _("0: never. The post is hidden until a moderator decides."),
            "close_after_days": _("0: never. Counted on each page from its first post. It can still be read then."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix = ""
        words, tags, number = (self.fields[name] for name in ("blocked_words", "allowed_tag_types", "reports_to_hide"))
        words.error_messages |= WORD_FAULTS
        words.label, words.help_text = _("Blocked words"), _("One word or phrase a line. spam* also matches spammer.")
        tags.label, tags.help_text = _("Smart tags that posts may have"), _("None selected: all of them.")
        number.widget.attrs["max"] = REPORTS_TO_HIDE_MAX
        self.fields["close_after_days"].widget.attrs["max"] = CLOSE_AFTER_DAYS_MAX
        self.fields["reason"].label, self.fields["reason"].help_text = _("Reason for the change"), _("For the log.")
        choices = {PreModeration.OFF: _("None"), PreModeration.AGENTS: _("Of agents"), PreModeration.EVERYONE: _("All")}
        self.fields["pre_moderation"].choices = list(choices.items())  # type: ignore[attr-defined]
        embedding = self.fields["embedding"]
        embedding.label = _("Who may choose the community for a widget")
        embedding.help_text = _("Widgets that have it already stay. You can end them on the page “Widgets”.")
        owners = {Embedding.MODERATORS: _("Its moderators"), Embedding.OPEN: _("Anybody")}
        embedding.choices = list(owners.items())  # type: ignore[attr-defined]
