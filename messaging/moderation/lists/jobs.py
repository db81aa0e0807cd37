"""The pages of jobs on many rows, which show their progress. A worker carries the jobs out."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import Script
from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString

from kernel.admin.actions import AdminAction
from kernel.admin.audit import log_entries_about
from kernel.admin.changelists import return_url
from kernel.admin.formatting import NOTHING, age, badge, change_url, lines, link
from kernel.admin.model_admin import ReadOnlyModelAdmin
from kernel.api.ids import is_id
from messaging.models import BulkJob, JobState
from messaging.moderation.bulk_jobs import continue_job, start_undo, stop_job
from messaging.moderation.lists.running import find_action, run_now, run_soon

BADGES = {JobState.RUNNING: "waiting", JobState.FINISHED: "good"}
OPPOSITES = {BulkJob.HIDE_POSTS: BulkJob.RESTORE_POSTS, BulkJob.RESTORE_POSTS: BulkJob.HIDE_POSTS}
DECISIONS_SHOWN_MAX = 10


def undoing_kind(job: BulkJob) -> str:
    """The kind of the job that undoes this one; empty if there is none."""
    if job.kind in OPPOSITES:
        return OPPOSITES[job.kind] if job.about_id else ""
    found = find_action(job.kind)
    return f"{job.kind.partition(':')[0]}:{found[1].undo}" if found and found[1].undo else ""


def undo_job(row: BulkJob, *, by: Any, reason: str = "") -> BulkJob:
    """Start the job that undoes what this one has done so far; of a few rows, it is finished at once."""
    return run_now(start_undo(job_id=row.pk, kind=undoing_kind(row), by=by, reason=reason))


def _continue(row: BulkJob, *, by: Any, reason: str = "") -> BulkJob:
    job = continue_job(job_id=row.pk, by=by, reason=reason)
    run_soon(job)
    return job


def refusals_of(job: BulkJob) -> list[str]:
    """What its first refusals said, with the names that the rows have now in place of their ids. At most one query."""
    found = find_action(job.kind)
    if found is None:
        return job.errors
    refusals = [refusal.partition(": ") for refusal in job.errors]
    ids = [row_id for row_id, _colon, _text in refusals if is_id(row_id)]
    names = dict.fromkeys(ids, "a deleted row")
    names |= {str(row.pk): str(row) for row in found[0].model._default_manager.select_related().filter(pk__in=ids)}
    return [names.get(row_id, row_id) + colon + text for row_id, colon, text in refusals]


STOP = AdminAction(
    name="stop",
    label="Stop",
    confirmation="The rows that are done stay as they are. You can continue, or undo them.",
    success_message="stopped",
    run=lambda row, **arguments: stop_job(job_id=row.pk, **arguments),
    is_available=lambda row: row.state == JobState.RUNNING,
    bulk=False,
)
CONTINUE = AdminAction(
    name="continue",
    label="Continue",
    confirmation="The rest of the rows are changed, in your name.",
    success_message="running",
    run=_continue,
    is_available=lambda row: row.state == JobState.STOPPED,
    bulk=False,
)
UNDO = AdminAction(
    name="undo",
    label="Undo",
    confirmation="Starts another job, which undoes what this one has done, as far as each row allows it.",
    success_message="is being undone by another job",
    run=undo_job,
    is_available=lambda row: row.state != JobState.RUNNING and bool(undoing_kind(row)) and row.changed_rows.exists(),
    bulk=False,
)


@admin.register(BulkJob)
class BulkJobAdmin(ReadOnlyModelAdmin):
    row_actions = (STOP, CONTINUE, UNDO)
    change_form_template = "admin/desk/job.html"
    list_display = ["label", "status", "progress", "by", "started"]
    list_filter = ["state"]
    list_select_related = ["by"]
    search_fields = ["label", "reason"]
    search_help_text = "Part of the name of the job, or of its reason."
    ordering = ["-created_at", "-pk"]
    fields = ["status", "progress", "by", "on_account", "reason", "started", "ended", "refusals"]
    readonly_fields = ["status", "progress", "on_account", "started", "ended", "refusals"]

    class Media:
        css = {"all": ["admin/desk/queue.css"]}
        js = [Script("admin/desk/job.js", defer=True)]

    def get_queryset(self, request: HttpRequest) -> QuerySet[BulkJob]:
        return BulkJob.objects.select_related("by", "about").defer("ids", "undoes")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.progress_view)
        return [path("<uuid:pk>/progress/", view, name=self.url_name("progress")), *super().get_urls()]

    def progress_view(self, request: HttpRequest, pk: UUID) -> JsonResponse:
        """What has been done so far, as JSON."""
        job = get_object_or_404(BulkJob.objects.defer("ids", "undoes"), pk=pk)
        counts = {"done": job.done, "refused": job.refused, "total": job.total}
        return JsonResponse({"state": job.state, "text": self.progress(job), **counts})

    def next_url(self, request: HttpRequest, action: AdminAction, row: BulkJob) -> str:
        return reverse("admin:messaging_bulkjob_changelist") if action is UNDO else change_url(row)

    def extra_context(self, request: HttpRequest, row: BulkJob) -> dict[str, Any]:
        return {
            "progress_url": reverse("admin:messaging_bulkjob_progress", args=[row.pk]),
            "list_link": self.list_link(request, row),
            "is_running": row.state == JobState.RUNNING,
            "log_entries": log_entries_about([row], latest=DECISIONS_SHOWN_MAX),
        }

    def list_link(self, request: HttpRequest, row: BulkJob) -> tuple[str, str] | None:
        """(text, URL) of the list from which the user came, else of the rows of the job."""
        found = find_action(row.kind)
        url = return_url(request) or (reverse(f"admin:{found[0].url_name('changelist')}") if found else "")
        return ("Back to the list", url) if url else None

    @admin.display(description="state", ordering="state")
    def status(self, row: BulkJob) -> SafeString:
        return badge(row.state, BADGES.get(JobState(row.state), ""))

    @admin.display(description="progress")
    def progress(self, row: BulkJob) -> str:
        refused = f", {row.refused:,} refused" if row.refused else ""
        return f"{row.done:,} of {row.total:,} done{refused}"

    @admin.display(description="account")
    def on_account(self, row: BulkJob) -> str | SafeString:
        return link(row.about)

    @admin.display(description="started", ordering="created_at")
    def started(self, row: BulkJob) -> str | SafeString:
        return age(row.created_at)

    @admin.display(description="finished")
    def ended(self, row: BulkJob) -> str | SafeString:
        return age(row.finished_at)

    @admin.display(description="first refusals")
    def refusals(self, row: BulkJob) -> str | SafeString:
        return lines(refusals_of(row)) if row.errors else NOTHING
