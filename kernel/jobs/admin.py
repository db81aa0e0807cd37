"""The jobs of the queue: what waits, runs, has failed, and what ran periodically and when next."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from croniter import croniter  # type: ignore[import-untyped]
from django.conf import settings
from django.contrib import admin
from django.db.models import Max, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from procrastinate.contrib.django.models import ProcrastinateEvent

from kernel.admin.actions import AdminAction
from kernel.admin.audit import log_decision
from kernel.admin.formatting import NOTHING, age, badge
from kernel.admin.model_admin import ReadOnlyModelAdmin
from kernel.database.sql import database_now
from kernel.jobs import queue
from kernel.jobs.models import JobNote, QueuedJob

STATES = {
    "todo": ("waiting", "waiting"),
    "doing": ("running", "waiting"),
    "succeeded": ("done", "good"),
    "failed": ("failed", "bad"),
    "cancelled": ("given up", "bad"),
    "aborted": ("stopped", "bad"),
}


def _retry(row: QueuedJob, *, by: Any, reason: str = "") -> None:
    queue.retry(row)
    log_decision(by=by, about=row, verb="Run at once", reason=reason)


def _give_up(row: QueuedJob, *, by: Any, reason: str = "") -> None:
    queue.give_up(row)
    log_decision(by=by, about=row, verb="Given up", reason=reason)


RETRY = AdminAction(
    name="retry",
    label="Run at once",
    confirmation="The job runs as soon as a worker has a place for it.",
    success_message="runs as soon as a worker has a place",
    run=_retry,
    is_available=lambda row: row.status in {"todo", "failed"},
)
GIVE_UP = AdminAction(
    name="give-up",
    label="Give up",
    confirmation="The job is not run, or is stopped. What it has done stays, and what it works on is left as it is.",
    success_message="given up",
    run=_give_up,
    is_available=lambda row: row.status in {"todo", "doing"},
)


class StateFilter(admin.SimpleListFilter):
    """The column is an enum of PostgreSQL, which refuses every other text."""

    title, parameter_name = "state", "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(status, text) for status, (text, _kind) in STATES.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[QueuedJob]) -> QuerySet[QueuedJob]:
        return queryset.filter(status=self.value()) if self.value() in STATES else queryset


@admin.register(QueuedJob)
class QueuedJobAdmin(ReadOnlyModelAdmin):
    id_converter = "int"
    row_actions = (RETRY, GIVE_UP)
    change_list_template = "admin/shared/jobs.html"
    list_display = ["__str__", "state", "progress", "since", "host", "attempts", "next_attempt", "error"]
    list_filter = [StateFilter, "task_name"]
    search_fields = ["lock"]
    search_help_text = "Part of the name of the job, or of the id of its row."
    ordering = ["-id"]
    fields = ["task_name", "state", "progress", "since", "host", "attempts", "next_attempt", "error"]
    readonly_fields = ["state", "progress", "since", "host", "next_attempt", "error"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[QueuedJob]:
        notes, events = JobNote.objects.filter(job_id=OuterRef("pk")), ProcrastinateEvent.objects
        # An event of the type `scheduled` has the time of the next attempt.
        last = events.filter(job=OuterRef("pk")).exclude(type="scheduled").order_by("-pk").values("at")[:1]
        return QueuedJob.objects.annotate(
            note_host=Subquery(notes.values("host")), note_error=Subquery(notes.values("error")), at=Subquery(last)
        )

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return not lookup.startswith("status") and super().lookup_allowed(lookup, value, request)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"periodic": list(_periodic()), **(extra_context or {})})

    def title_for(self, row: QueuedJob) -> str:
        return f"Job {row}"

    @admin.display(description="state", ordering="status")
    def state(self, row: QueuedJob) -> SafeString:
        text, kind = STATES.get(row.status, (row.status, ""))
        return badge("failing" if row.status == "todo" and row.attempts else text, kind)

    @admin.display(description="progress")
    def progress(self, row: QueuedJob) -> str:
        """One query for each job that runs, of which a host has five."""
        percent = queue.percent_of(row) if row.status == "doing" else None
        return NOTHING if percent is None else f"{percent} %"

    @admin.display(description="since")
    def since(self, row: Any) -> str | SafeString:
        return age(row.at)

    @admin.display(description="host")
    def host(self, row: Any) -> str:
        return row.note_host or NOTHING

    @admin.display(description="next attempt")
    def next_attempt(self, row: QueuedJob) -> str | SafeString:
        return age(row.scheduled_at if row.status == "todo" else None)

    @admin.display(description="last failure")
    def error(self, row: Any) -> str:
        return row.note_error or NOTHING


def _periodic() -> Iterator[tuple[str, datetime | None, datetime | None]]:
    """Each command of the housekeeping, when it last succeeded in the days that are stored, and when it runs next."""
    done = ProcrastinateEvent.objects.filter(type="succeeded", job__task_name__in=settings.HOUSEKEEPING)
    last = dict(done.values_list("job__task_name").annotate(Max("at")))
    minutes, now = settings.HOUSEKEEPING_MINUTES, database_now()
    due = croniter(queue.cron_of(minutes), now).get_next(datetime) if minutes else None
    for name in settings.HOUSEKEEPING:
        yield name, last.get(name), due
