"""Imports in the admin: read-only, but a super admin may undo one."""

from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString

from kernel.admin.actions import AdminAction
from kernel.admin.audit import log_decision
from kernel.admin.formatting import age, as_fields, badge, lines
from kernel.admin.model_admin import ReadOnlyModelAdmin
from messaging.models import Account
from moving.models import Move, MoveStatus
from moving.uploads import start_undo

BADGES = {MoveStatus.DONE: "good", MoveStatus.FAILED: "bad", MoveStatus.UNDONE: "bad"}
# By name in `counts`.
COUNTS = {
    "found": "posts in the file",
    "new": "new",
    "earlier": "imported before",
    "published": "published",
    "pending": "pending",
    "deleted": "deleted, but answered",
    "pages": "pages",
    "skipped": "left out",
    "changed": "changed",
    "reasons": "why left out or changed",
    "elsewhere": "left out, by host of others",
}


def undo_by(row: Move, *, by: Account, reason: str) -> None:
    """Raises ImportBusy (409)."""
    start_undo(row, by=by, reason=reason)
    log_decision(by=by, about=row, verb="Undone", reason=reason)


UNDO = AdminAction(
    name="undo",
    label="Undo",
    confirmation=(
        "All posts of the import are removed, in the background. Those that people have answered since are shown as "
        "deleted."
    ),
    success_message="is being undone",
    run=undo_by,
    is_available=lambda row: row.can_undo,
)


@admin.register(Move)
class MoveAdmin(ReadOnlyModelAdmin):
    row_actions = (UNDO,)
    list_display = ["file_name", "format", "community", "started_by", "state", "since"]
    list_filter = ["status", "format"]
    list_select_related = ["community", "started_by"]
    ordering = ["-created_at", "-id"]
    search_fields = ["file_name", "community__slug"]
    search_help_text = "Part of the name of the file, or of the community's short name."
    fields = ["state", "file_name", "format", "community", "started_by", "addresses", "found", "error", "since"]
    readonly_fields = ["state", "addresses", "found", "since"]

    def status_text(self, row: Move) -> str:
        return str(row.get_status_display())

    @admin.display(description="state", ordering="status")
    def state(self, row: Move) -> SafeString:
        return badge(row.status, BADGES.get(MoveStatus(row.status), "waiting"))

    @admin.display(description="changed addresses")
    def addresses(self, row: Move) -> str | SafeString:
        return lines([" → ".join(text.split("=", 1)) for text in row.map])

    @admin.display(description="found")
    def found(self, row: Move) -> str | SafeString:
        """In the order of COUNTS: the database stores no order."""
        return as_fields({label: row.counts[name] for name, label in COUNTS.items() if name in row.counts})

    @admin.display(description="since", ordering="created_at")
    def since(self, row: Move) -> str | SafeString:
        return age(row.created_at)
