"""The base class of lists whose actions take any number of rows: many are a job, with progress and an undo."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html

from kernel.admin.actions import AdminAction
from kernel.admin.confirming import confirmation
from kernel.admin.formatting import change_url
from kernel.admin.model_admin import BULK_MAX, ReadOnlyModelAdmin
from kernel.admin.returning import returning
from kernel.admin.seen import decided_name
from kernel.api.times import parse_time
from kernel.database.sql import database_now
from messaging.moderation.bulk_jobs import ROWS_MAX, record_job, start_job
from messaging.moderation.exceptions import TooManyRows
from messaging.moderation.lists.running import run_soon

SHOWN_MAX = 50
GROWN = "The list has more rows than when you confirmed. Check it, and confirm again."


class ManyRowsAdmin(ReadOnlyModelAdmin):
    def perform_on_many(self, request: HttpRequest, chosen: QuerySet[Any], action: AdminAction) -> HttpResponse | None:
        """More than BULK_MAX rows are a job, which starts when it is confirmed, on rows that its page has counted."""
        as_of = _as_of(request)
        if request.POST.get("select_across") == "1":
            chosen = chosen.filter(created_at__lte=as_of)
        if not chosen[BULK_MAX:].exists():
            return super().perform_on_many(request, chosen, action)
        ids, undoes = _rows_of(chosen, action)
        if len(ids) > ROWS_MAX:
            self.message_user(request, TooManyRows(max=ROWS_MAX).body()["message"], messages.ERROR)
            return None
        form = action.form(request.POST if "confirmed" in request.POST else None, row=None, action=action)
        if form.is_valid() and len(ids) > _counted(request):
            form.add_error(None, GROWN)
        if form.is_valid():
            return self._start(request, action, reason=form.cleaned_data["reason"], ids=ids, undoes=undoes)
        counted = {"as_of": as_of.isoformat(), "counted": len(ids)}
        shown = list(chosen[: min(SHOWN_MAX, BULK_MAX)])
        return confirmation(self, request, action, shown, form, more=len(ids) - len(shown), hidden=counted)

    def report(
        self, request: HttpRequest, action: AdminAction, done: dict[Any, datetime | None], text: str, reason: str = ""
    ) -> None:
        """The message offers to undo the action, if one undoes it."""
        url = self.undo_url(request, action, done, reason) if action.undo else ""
        shown = format_html('{} <a href="{}">Undo…</a>', text, url) if url else text
        self.message_user(request, shown, messages.SUCCESS)

    def undo_url(self, request: HttpRequest, action: AdminAction, done: dict[Any, datetime | None], reason: str) -> str:
        """The page that undoes the action; it leads back to the list. Several rows are undone as those of a job."""
        in_list = request.get_full_path() if "action" in request.POST else ""
        if len(done) == 1:
            ((row, at),) = done.items()
            url = reverse(f"admin:{self.url_name(action.undo)}", args=[row.pk])
            url += f"?{urlencode({decided_name(row.pk): at.isoformat()})}" if at else ""
            return returning(url, to=in_list) if in_list else self.with_filters(request, url)
        changed = {row.pk: at for row, at in done.items()}
        job = record_job(changed=changed, by=request.user, reason=reason, **self._job(action, len(done)))  # type: ignore[arg-type]
        return returning(reverse("admin:messaging_bulkjob_undo", args=[job.pk]), to=in_list)

    def _job(self, action: AdminAction, number: int) -> dict[str, str]:
        label = f"{action.label} {number:,} {self.opts.verbose_name_plural}"
        return {"kind": f"{self.model._meta.label_lower}:{action.name}", "label": label}

    def _start(self, request: HttpRequest, action: AdminAction, *, ids: list[UUID], **values: Any) -> HttpResponse:
        job = start_job(ids=ids, by=request.user, **values, **self._job(action, len(ids)))  # type: ignore[arg-type]
        run_soon()
        return HttpResponseRedirect(returning(change_url(job), to=request.get_full_path()))


def _rows_of(chosen: QuerySet[Any], action: AdminAction) -> tuple[list[UUID], list[datetime | None]]:
    """The ids of the rows, and the times of their decisions for an action that undoes these."""
    chosen = chosen[: ROWS_MAX + 1]
    if not action.takes_decided_at:
        return list(chosen.values_list("pk", flat=True)), []
    rows = list(chosen.values_list("pk", "decided_at"))
    return [pk for pk, _at in rows], [at for _pk, at in rows]


def _as_of(request: HttpRequest) -> datetime:
    """When the confirmation page was made: rows that were created later are not on it."""
    return parse_time(request.POST.get("as_of", "")) or database_now()


def _counted(request: HttpRequest) -> int:
    """How many rows the confirmation page counted; 0 for a form of an earlier release."""
    text = request.POST.get("counted", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
