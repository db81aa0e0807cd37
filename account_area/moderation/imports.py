"""The imports into a community: a file is uploaded, checked, written, and can be removed again as a whole."""

from __future__ import annotations

from functools import partial
from typing import Any, cast
from uuid import UUID

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _

from account_area.forms import AccountForm, sentence
from account_area.moderation import queries
from account_area.moderation.communities import frame
from account_area.page import READ_METHODS, account_page
from account_area.people import person_of
from kernel.api.exceptions import ApiError, NotFound
from messaging.markdown.html import to_html
from messaging.models import Account, Community
from messaging.models.moderation import moderated_by
from moving import uploads
from moving.exceptions import ImportReportNotFound, ImportUnderWay
from moving.formats import FORMATS, PROGRAMS
from moving.imports.progress import MEGABYTE
from moving.models import Move, MovePart, MoveStatus
from moving.services import find_import

# While a step runs, the page is loaded again, also without scripts.
REFRESH_SECONDS = 3
MEBIBYTE = 1 << 20
NAMES = PROGRAMS | {"jsonl": _("An export of this service")}
STATUSES = {
    MoveStatus.UPLOADED: _("is being checked"),
    MoveStatus.CHECKED: _("checked, not imported yet"),
    MoveStatus.WAITING: _("begins in a moment"),
    MoveStatus.RUNNING: _("is being imported"),
    MoveStatus.DONE: _("imported"),
    MoveStatus.FAILED: _("failed"),
    MoveStatus.UNDOING: _("is being removed"),
    MoveStatus.UNDONE: _("removed"),
}
# What is done at the moment (`moving.imports.progress.Step`).
STEPS = {
    "reading": _("Reading the file"),
    "ordering": _("Settling the order of the posts"),
    "checking": _("Looking for posts that are here already"),
    "writing": _("Writing the posts"),
    "reacting": _("Writing the reactions"),
    "ending": _("Finishing the import"),
    "undoing": _("Removing the posts"),
}
COUNTS = {
    "found": _("Posts in the file"),
    "new": _("New here"),
    "earlier": _("Here already"),
    "published": _("Shown"),
    "pending": _("Wait for approval"),
    "deleted": _("Deleted, but answered"),
    "pages": _("Pages"),
    "skipped": _("Left out"),
    "changed": _("Changed"),
}


class UploadForm(AccountForm):
    format = forms.ChoiceField(label=_("From"), choices=[(name, NAMES[name]) for name in FORMATS])
    file = forms.FileField(label=_("File"), help_text=_("As the other system has exported it, also compressed."))
    map = forms.CharField(
        label=_("Moved addresses"),
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "ltr", "spellcheck": "false"}),
        help_text=_("OLD=NEW, one a line. Where addresses name no site: /=https://site.example/"),
    )
    map_file = forms.FileField(
        label=_("File of addresses"),
        required=False,
        help_text=_(
            "A CSV of two columns, for many: the old address, or the identifier of a thread without one, and the new "
            "address. You can add a column “url” to the report and send it."
        ),
    )

    def clean_map_file(self) -> bytes:
        file = self.cleaned_data["map_file"]
        # One byte more than is allowed, so that a longer file is refused.
        return bytes(file.read(uploads.MAP_FILE_MAX + 1)) if file else b""

    def clean_map(self) -> list[str]:
        return [line.strip() for line in self.cleaned_data["map"].splitlines() if line.strip()]


@account_page
def imports(request: HttpRequest, slug: str) -> HttpResponse:
    community = queries.community_of(slug=slug, by=person_of(request))
    form = UploadForm(request.POST or None, request.FILES or None)
    refusal: ApiError | None = None
    if request.method == "POST" and form.is_valid():
        try:
            move = _upload(form.cleaned_data, community, by=person_of(request))
        except ApiError as failure:
            form.refuse(failure)
            refusal = failure
        else:
            return redirect(reverse("moderation-import", args=[slug, move.pk]))
    under_way = refusal.move if isinstance(refusal, ImportUnderWay) else None
    context = {
        "form": form,
        "under_way": _openable(under_way, by=person_of(request)),
        "moves": [_shown(move) for move in uploads.moves_of(community)],
        # The setting is in megabytes; Django shows mebibytes as MB.
        "max": settings.IMPORT_UPLOAD_MAX // MEGABYTE * MEBIBYTE,
    }
    status = 409 if under_way else 200
    return render(request, "account_area/moderation/imports.html", frame(community, "imports") | context, status=status)


def _upload(values: dict[str, Any], community: Community, *, by: Account) -> Move:
    file = values["file"]
    return uploads.upload(
        community=community,
        format=values["format"],
        map=values["map"],
        file_name=file.name or "",
        size=file.size,
        pieces=partial(file.chunks, uploads.PART_BYTES),
        map_file=values["map_file"],
        by=by,
    )


def _openable(move: Move | None, *, by: Account) -> Move | None:
    """The import, if the person moderates its community still."""
    return move if move is not None and moderated_by(by).filter(pk=move.community_id).exists() else None


@account_page
def one_import(request: HttpRequest, slug: str, move_id: UUID) -> HttpResponse:
    community = queries.community_of(slug=slug, by=person_of(request))
    move = find_import(move_id, communities=[community.pk])
    refusal: ImportUnderWay | None = None
    if request.method == "POST":
        try:
            _carry_out(request.POST.get("action", ""), move, by=person_of(request))
        except ImportUnderWay as failure:
            refusal = failure
        else:
            return redirect(request.path)
    uploads.moves_of(community)
    context = _shown(move) | {
        "preview": _preview(move) if move.can_start else [],
        "has_report": uploads.has_report(move),
        "refusal": refusal and sentence(refusal),
        "under_way": _openable(refusal.move if refusal else None, by=person_of(request)),
    }
    status = 409 if refusal else 200
    response = render(
        request, "account_area/moderation/import.html", frame(community, "imports") | context, status=status
    )
    if move.is_under_way:
        response.headers["Refresh"] = str(REFRESH_SECONDS)
    return response


def _carry_out(action: str, move: Move, *, by: Account) -> None:
    if action == "start":
        uploads.start(move)
    elif action == "undo":
        uploads.start_undo(move, by=by)
    else:
        raise NotFound


@account_page(methods=READ_METHODS)
def report(request: HttpRequest, slug: str, move_id: UUID) -> HttpResponse:
    community = queries.community_of(slug=slug, by=person_of(request))
    move = find_import(move_id, communities=[community.pk])
    if not uploads.has_report(move):
        raise ImportReportNotFound
    headers = {"Content-Disposition": f'attachment; filename="import-{move.pk}.csv"'}
    rows = uploads.content_of(move, MovePart.Kind.REPORT)
    return cast(HttpResponse, StreamingHttpResponse(rows, content_type="text/csv; charset=utf-8", headers=headers))


def _shown(move: Move) -> dict[str, Any]:
    return {
        "move": move,
        "format_name": NAMES.get(move.format, move.format),
        "status": STATUSES[MoveStatus(move.status)],
        # The most first: the database stores no order.
        "elsewhere": sorted(move.counts.get("elsewhere", {}).items(), key=lambda each: -each[1]),
        "counts": [(label, move.counts[name]) for name, label in COUNTS.items() if name in move.counts],
        "step": STEPS.get(move.step, ""),
    }


def _preview(move: Move) -> list[dict[str, Any]]:
    """Escaped by `to_html`. The texts may be cut within a mark."""
    return [post | {"html": mark_safe(to_html(post["text"]))} for post in move.preview]  # noqa: S308  # nosec B308 B703
