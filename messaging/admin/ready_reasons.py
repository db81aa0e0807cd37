from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.widgets import AdminTextareaWidget
from django.db import models
from django.db.models import Model
from django.http import HttpRequest

from kernel.admin.edit_conflicts import ConflictCheckedForm
from kernel.admin.model_admin import ReadOnlyModelAdmin
from messaging.models import ReadyReason
from messaging.models.ready_reason import OFFERED_MAX
from messaging.services.differences import describe_changes


class ReadyReasonForm(ConflictCheckedForm):
    class Meta:
        model = ReadyReason
        fields = ["of", "text", "position"]


@admin.register(ReadyReason)
class ReadyReasonAdmin(ReadOnlyModelAdmin):
    """Editable. The history of the admin has what was changed."""

    form = ReadyReasonForm
    formfield_overrides = {models.CharField: {"widget": AdminTextareaWidget(attrs={"rows": 2})}}
    change_form_template = None  # type: ignore[assignment]  # Django's, which has a form
    list_display = ["text", "of", "position"]
    list_filter = ["of"]
    search_fields = ["text"]
    search_help_text = f"Part of a text. The first {OFFERED_MAX} of each list are offered, and can be edited when used."
    ordering = ["of", "position", "text"]
    fieldsets = [(None, {"fields": ["of", "text", "position", "opened"]})]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return True

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return True

    def construct_change_message(  # type: ignore[override]  # Django accepts text too
        self, request: HttpRequest, form: ReadyReasonForm, formsets: Any, add: bool = False
    ) -> str:
        after = {column: form.cleaned_data[column] for column in form.changed_columns}
        return "Added." if add else f"Changed {describe_changes(form.initial, after) or 'nothing'}."
