"""Actions of super admins on rows, each with a confirmation page.

The confirmation page of an action on one row or several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from kernel.admin.changelists import decided_name, return_url, seen_name
from kernel.api.exceptions import ApiError

REASON_MAX = 500


class AdminActionForm(forms.Form):
    """The reason. Subclasses add fields; each is a keyword argument of the service."""

    reason = forms.CharField(
        max_length=REASON_MAX,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 70}),
        help_text="Stored in the history.",
    )

    def __init__(self, *args: Any, row: Any, action: AdminAction, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.row = row
        self.fields["reason"].required = action.needs_reason

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of the service."""
        return dict(self.cleaned_data)


@dataclass(frozen=True, slots=True)
class AdminAction:
    """An action on a row.

    `run(row, by=, reason=, …)` is a service that raises an ApiError to refuse; `is_available` checks the state of the
    row; `confirmation` describes the effect beforehand, `success_message` afterwards (`@helper: frozen`). `inline`
    shows the form on the page of the row, `bulk` adds an action to the list. With a `key`, the action is a button in
    the row of a list, and of the bar below it; `undo` is the name of the action that undoes it. With `takes_seen_at`,
    `run` also takes `seen_at`: the `updated_at` of the row as the page showed it, None if that is not known. With
    `takes_decided_at`, it takes `decided_at`: the time of the decision to undo, None if that is not known. One that is
    not `is_offered` on the page of a row is reached as the `undo` of another action.
    """

    name: str
    label: str
    confirmation: str
    success_message: str
    run: Callable[..., object]
    is_available: Callable[[Any], bool] = lambda _row: True
    form: type[AdminActionForm] = AdminActionForm
    needs_reason: bool = False
    inline: bool = False
    bulk: bool = True
    key: str = ""
    undo: str = ""
    takes_seen_at: bool = False
    takes_decided_at: bool = False
    is_offered: bool = True

    def carry_out(
        self, row: Any, *, seen_at: datetime | None, decided_at: datetime | None, **arguments: Any
    ) -> datetime | None:
        """Returns the time of the decision, if the row has one: its `decided_at`."""
        times = {"seen_at": seen_at} if self.takes_seen_at else {}
        times |= {"decided_at": decided_at} if self.takes_decided_at else {}
        return getattr(self.run(row, **times, **arguments), "decided_at", None)


def error_text(refusal: ApiError) -> str:
    """`request not pending (status: approved)`."""
    details = [_detail(name, value) for name, value in refusal.fields.items() if name not in {"field", "allowed"}]
    return refusal.default_code.replace("_", " ") + (f" ({'; '.join(details)})" if details else "")


def _detail(name: str, value: Any) -> str:
    if name == "details":
        return "; ".join(problem["message"] for problem in value)
    return f"{name}: {value}"


def confirmation(
    rows_admin: Any,
    request: HttpRequest,
    action: AdminAction,
    rows: list[Any],
    form: AdminActionForm,
    *,
    more: int = 0,
    hidden: Mapping[str, object] | None = None,
) -> HttpResponse:
    """Of a ReadOnlyModelAdmin. `more` rows than `rows` are chosen: a whole list. The form sends the `hidden` fields."""
    count = len(rows) + more
    context = rows_admin.admin_site.each_context(request) | {
        "title": f"{action.label}: {rows[0]}" if count == 1 else f"{action.label}: {count} chosen",
        "action": action,
        "form": form,
        "is_available": any(action.is_available(row) for row in rows),
        "rows": rows,
        "opts": rows_admin.opts,
        "checkbox": ACTION_CHECKBOX_NAME,
        "in_list": "action" in request.POST,
        "here": request.get_full_path(),
        "more": more,
        "hidden": {**(hidden or {}), **_seen(request, action, rows)},
        "return_url": return_url(request),
        "status_texts": [(row, rows_admin.status_text(row)) for row in rows],
        "list_url": rows_admin.with_filters(request, reverse(f"admin:{rows_admin.url_name('changelist')}")),
        "preserved_filters": rows_admin.get_preserved_filters(request),
    }
    return TemplateResponse(request, "admin/shared/confirm_action.html", context)


def _seen(request: HttpRequest, action: AdminAction, rows: list[Any]) -> dict[str, str]:
    """The times of each row as the list, the link to this page, or else this page, shows them."""
    shown = {seen_name(row.pk): row.updated_at for row in rows if action.takes_seen_at}
    shown |= {decided_name(row.pk): row.decided_at for row in rows if action.takes_decided_at and row.decided_at}
    sent = {**request.GET.dict(), **request.POST.dict()}
    return {name: sent.get(name, at.isoformat()) for name, at in shown.items()}
