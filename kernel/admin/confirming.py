"""The confirmation page of an action on one row or several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from kernel.admin.actions import AdminAction, AdminActionForm
from kernel.admin.returning import return_url
from kernel.admin.seen import decided_name, seen_name


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
