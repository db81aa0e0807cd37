from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from kernel.admin.actions import AdminAction
from kernel.admin.audit import log_entries_about
from kernel.admin.formatting import age, change_url
from kernel.admin.returning import return_url, returning
from messaging.admin.desk.many import ManyRowsAdmin
from messaging.admin.people import HIDE_POSTS, RESTORE_POSTS, SUSPEND, UNSUSPEND, count_posts
from messaging.admin.sign_ins import latest_of
from messaging.models import Account, BulkJob, JobState, Message

POSTS_SHOWN_MAX = 10
DECISIONS_SHOWN_MAX = 10


@admin.register(Account)
class AccountAdmin(ManyRowsAdmin):
    """People and agents. The admin of agents manages their scopes and tokens."""

    row_actions = (SUSPEND, UNSUSPEND, HIDE_POSTS, RESTORE_POSTS)
    change_form_template = "admin/messaging/account.html"
    list_display = ["handle_shown", "name", "kind", "is_active", "is_superuser", "since"]
    list_filter = ["kind", "is_active", "is_superuser", "created_at"]
    search_fields = ["handle", "name"]
    search_help_text = "Part of a handle or a name."
    ordering = ["-created_at", "-pk"]
    fields = ["handle_shown", "name", "kind", "is_active", "is_superuser", "since", "signed_in"]
    readonly_fields = ["handle_shown", "since", "signed_in"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Account]:
        return Account.objects.defer("password")

    def status_text(self, row: Account) -> str:
        state = "" if row.is_active else "not active; "
        counts = count_posts(row)
        which = f", of the latest {counts.of_latest}" if counts.of_latest else ""
        return f"{state}{counts.to_hide} posts published or pending, {counts.hidden_together} hidden together{which}"

    def extra_context(self, request: HttpRequest, row: Account) -> dict[str, Any]:
        posts = Message.objects.filter(author=row).select_related("community").order_by("-pk")
        return {
            "posts": posts[:POSTS_SHOWN_MAX],
            "sign_ins": latest_of(row),
            "log_entries": log_entries_about([row], latest=DECISIONS_SHOWN_MAX),
        }

    def next_url(self, request: HttpRequest, action: AdminAction, row: Account) -> str:
        """The page of the job that hides or restores the posts; it goes on while the page is open."""
        if action not in {HIDE_POSTS, RESTORE_POSTS}:
            return super().next_url(request, action, row)
        job = BulkJob.objects.filter(about=row).defer("ids", "undoes").order_by("-created_at").first()
        return change_url(row if job is None or job.state == JobState.FINISHED else job)

    def place_after(self, request: HttpRequest, action: AdminAction, row: Account) -> str:
        """The page of a job that goes on leads back to the list."""
        url = self.next_url(request, action, row)
        is_job = url != change_url(row)
        return returning(url, to=return_url(request)) if is_job else super().place_after(request, action, row)

    @admin.display(description="handle", ordering="handle")
    def handle_shown(self, row: Account) -> str:
        return f"@{row.handle}"

    @admin.display(description="since", ordering="created_at")
    def since(self, row: Account) -> str | SafeString:
        return age(row.created_at)

    @admin.display(description="last sign-in on the pages")
    def signed_in(self, row: Account) -> str | SafeString:
        return age(row.last_login)
