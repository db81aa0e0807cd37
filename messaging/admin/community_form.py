from __future__ import annotations

from typing import Any

from django import forms

from kernel.admin.actions import REASON_MAX
from kernel.admin.edit_conflicts import ConflictCheckedForm
from messaging.models import Community, Embedding
from messaging.smart_tags import SMART_TAGS


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
