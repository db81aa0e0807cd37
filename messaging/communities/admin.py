"""The admin of communities, and its form, with the word list and the moderators."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString

from kernel.admin.actions import REASON_MAX
from kernel.admin.edit_conflicts import ConflictCheckedForm
from kernel.admin.formatting import age
from kernel.admin.model_admin import ReadOnlyModelAdmin
from messaging.communities.services import save_added, save_changed
from messaging.markdown.reading import as_read
from messaging.models import Account, Community, Embedding
from messaging.models.message import CONTENT_MAX
from messaging.posts.editing import describe_changes
from messaging.smart_tags import SMART_TAGS
from messaging.word_lists import compile_words
from messaging.word_lists.marking import marked


class LinesField(forms.CharField):
    """A list of strings, one per line."""

    widget = forms.Textarea(attrs={"rows": 8, "cols": 40})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]  # returns a list
        return [line.strip() for line in str(value or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return (initial or []) != self.to_python(data)


class CountField(forms.IntegerField):
    """A number, 0 if it is empty. A form that was opened before an upgrade leaves it unchanged."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"required": False})

    def clean(self, value: Any) -> Any:
        return 0 if value == "" else super().clean(value)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return data is not None and super().has_changed(initial, data or 0)


class EmbeddingField(forms.ChoiceField):
    """A form that was opened before an upgrade leaves the rule unchanged."""

    def __init__(self) -> None:
        help_text = "Who may choose the community for a widget. Widgets that have it stay."
        super().__init__(choices=Embedding.choices, required=False, help_text=help_text)

    def clean(self, value: Any) -> Any:
        if value == "":
            raise forms.ValidationError(self.error_messages["required"], code="required")
        return super().clean(value)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return data is not None and super().has_changed(initial, data)


class CommunityForm(ConflictCheckedForm):
    blocked_words = LinesField(
        required=False,
        help_text="One word or phrase per line. With a trailing *, it is a prefix: spam* matches spammer.",
    )
    allowed_tag_types = forms.MultipleChoiceField(
        required=False,
        label="Allowed smart tags",
        choices=[(tag_type, tag.title) for tag_type, tag in SMART_TAGS.items()],
        widget=forms.CheckboxSelectMultiple,
        help_text="If none is selected, all are allowed.",
    )
    embedding = EmbeddingField()
    reason = forms.CharField(
        required=False, max_length=REASON_MAX, strip=True, help_text="Reason for the change; stored in the history."
    )

    class Meta:
        model = Community
        field_classes = {"reports_to_hide": CountField, "close_after_days": CountField}
        fields = [
            *("name", "slug", "agents_may_post", "people_may_post", "read_only"),
            *("pre_moderation", "reports_to_hide", "close_after_days", "embedding"),
            *("allowed_tag_types", "blocked_words"),
        ]


# The latest closed pages and pins of a community on its page.
SHOWN_MAX = 20


@admin.register(Community)
class CommunityAdmin(ReadOnlyModelAdmin):
    """Editable; the history shows the changed columns and the reason."""

    form = CommunityForm
    change_form_template = "admin/messaging/community.html"
    list_display = ["name", "slug", "rules", "words", "since"]
    list_filter = ["pre_moderation", "read_only", "agents_may_post", "people_may_post", "embedding"]
    search_fields = ["name", "slug"]
    search_help_text = "Part of a name."
    ordering = ["name", "pk"]
    prepopulated_fields = {"slug": ["name"]}
    save_on_top = False
    fieldsets = [
        (None, {"fields": ["name", "slug"]}),
        (
            "Rules",
            {
                "fields": [
                    *("agents_may_post", "people_may_post", "read_only"),
                    *("pre_moderation", "reports_to_hide", "close_after_days", "embedding", "allowed_tag_types"),
                ]
            },
        ),
        ("Blocked words", {"fields": ["blocked_words"]}),
        (None, {"fields": ["reason", "opened"]}),
    ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return True

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.try_words)
        return [path("<uuid:pk>/try-words/", view, name=self.url_name("try_words")), *super().get_urls()]

    def construct_change_message(  # type: ignore[override]  # Django accepts text too
        self, request: HttpRequest, form: CommunityForm, formsets: Any, add: bool = False
    ) -> str:
        """The change and its reason, in the format of `log_decision`."""
        after = {column: form.cleaned_data[column] for column in form.changed_columns}
        done = "Added" if add else f"Changed {describe_changes(form.initial, after) or 'nothing'}"
        reason = form.cleaned_data["reason"]
        return f"{done}: {reason}" if reason else f"{done}."

    def save_model(self, request: HttpRequest, obj: Community, form: CommunityForm, change: bool) -> None:
        by, reason = cast(Account, request.user), form.cleaned_data["reason"]
        if change:
            save_changed(obj, form.changed_columns, by=by, reason=reason)
        else:
            save_added(obj, by=by, reason=reason)

    def extra_context(self, request: HttpRequest, row: Community) -> dict[str, Any]:
        moderators = [row.account for row in row.moderators.select_related("account")]
        return {
            "text_max": CONTENT_MAX,
            "moderators": moderators,
            "bans": row.bans.count(),
            "closed": row.closed_pages.select_related("page")[:SHOWN_MAX],
            "closed_count": row.closed_pages.count(),
            "pins": row.pins.select_related("message", "page")[:SHOWN_MAX],
            "pin_count": row.pins.count(),
        }

    def try_words(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Show which entries of the word list match a text, and where. Stores nothing."""
        community = get_object_or_404(Community, pk=pk)
        text = request.POST.get("text", "").replace("\r\n", "\n")[:CONTENT_MAX]
        read = as_read(text)
        matches = compile_words(tuple(community.blocked_words)).matches(read)
        context = self.admin_site.each_context(request) | {
            "title": f"Try the word list of {community}",
            "opts": self.opts,
            "community": community,
            "text": text,
            "text_max": CONTENT_MAX,
            "matches": matches,
            "pieces": marked(read, matches),
            "here": reverse(f"admin:{self.url_name('try_words')}", args=[pk]),
        }
        return TemplateResponse(request, "admin/messaging/try_words.html", context)

    @admin.display(description="rules")
    def rules(self, row: Community) -> str:
        rules = {
            "read only": row.read_only,
            "no agents": not row.agents_may_post,
            "no people": not row.people_may_post,
            f"moderated first: {row.pre_moderation}": row.pre_moderation != "off",
            f"reviewed after reports: {row.reports_to_hide}": row.reports_to_hide > 0,
            f"closed after days: {row.close_after_days}": row.close_after_days > 0,
            "some smart tags only": bool(row.allowed_tag_types),
            "widgets by moderators": row.embedding == Embedding.MODERATORS,
        }
        return ", ".join(rule for rule, applies in rules.items() if applies) or "open to all"

    @admin.display(description="blocked words")
    def words(self, row: Community) -> int:
        return len(row.blocked_words)

    @admin.display(description="since", ordering="created_at")
    def since(self, row: Community) -> str | SafeString:
        return age(row.created_at)
