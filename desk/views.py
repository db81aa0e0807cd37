"""Pages of the admin that belong to no model. `SuperAdminSite.admin_view` guards them."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from desk.records import RecordForm, name_of, record_of
from desk.searching import Finding, find
from kernel.admin.site import SuperAdminSite
from mails.addresses import verified_addresses
from mails.kinds import FOR_SUPER_ADMINS, PAUSES, Frequency, Kind
from mails.preferences import preferences_of, set_preferences
from messaging.models import Account
from messaging.privacy.exceptions import ExportNotFound
from messaging.privacy.exports import content_of, ready_record, records_for

LABELS = {
    Kind.REQUEST: "New agent requests",
    Kind.REPORT: "Reports of posts, in all communities",
    Kind.HEALTH: "Troubles of the service, and their end",
}
KINDS = [kind for kind in Kind if kind in FOR_SUPER_ADMINS]
FREQUENCIES = {Frequency.OFF: "Never", Frequency.AT_ONCE: "At once", Frequency.DAILY: "Once a day"}


class NoticesForm(forms.Form):
    """How often a super admin gets each kind of mail."""

    def __init__(self, account: Account, data: Any = None) -> None:
        super().__init__(data)
        chosen = preferences_of(account)
        for kind in KINDS:
            pause = PAUSES.get(kind)
            self.fields[kind.value] = forms.ChoiceField(
                label=LABELS.get(kind, kind.label),
                choices=[(frequency.value, label) for frequency, label in FREQUENCIES.items()],
                widget=forms.RadioSelect,
                initial=chosen[kind].value,
                help_text=f"At most one mail in {int(pause.total_seconds() // 60)} minutes." if pause else "",
                show_hidden_initial=True,
            )

    @property
    def frequencies(self) -> dict[Kind, Frequency]:
        """The choices that differ from those with which the form was opened: others may have changed meanwhile."""
        return {Kind(kind): Frequency(self.cleaned_data[kind]) for kind in self.changed_data}


TERM_MAX = 200


def search_page(request: HttpRequest) -> HttpResponse:
    """People, agents, communities, posts and pages of the admin that match one term."""
    if request.method not in {"GET", "HEAD"}:
        return HttpResponseNotAllowed(["GET", "HEAD"])
    term = " ".join(request.GET.get("q", "")[:TERM_MAX].split())
    findings: list[Finding] = find(term, request) if term else []
    return _page(request, "admin/desk/search.html", title="Search", term=term, findings=findings)


def notices_page(request: HttpRequest) -> HttpResponse:
    """Which mails the super admin gets."""
    account = cast(Account, request.user)
    form = NoticesForm(account, request.POST if request.method == "POST" else None)
    if form.is_valid():
        set_preferences(account_id=account.pk, frequencies=form.frequencies)
        messages.success(request, "Your choice is saved.")
        return redirect("admin:desk_notices")
    address = verified_addresses([account.pk]).get(account.pk)
    return _page(
        request,
        "admin/desk/notices.html",
        title="Notices by mail",
        form=form,
        address=address,
        mail_is_sent=settings.MAIL_IS_SENT,
    )


def record_page(request: HttpRequest) -> HttpResponseBase:
    """GET asks whose record, and why, and lists those that are made; POST is the archive, or has it made."""
    form = RecordForm(request.POST) if request.method == "POST" else RecordForm(initial=request.GET.dict())
    if form.is_valid():
        archive = record_of(form.cleaned_data["account"], by=request.user, reason=form.cleaned_data["reason"])
        if archive is not None:
            return archive
        messages.success(request, "The account has stored much. Its record is made now, and listed here.")
        return redirect("admin:desk_record")
    records = records_for(cast(Account, request.user))
    return _page(request, "admin/desk/record.html", title="Export a whole record", form=form, records=records)


def record_download(request: HttpRequest, pk: UUID) -> HttpResponseBase:
    """A record that the super admin has asked for."""
    try:
        record = ready_record(record_id=pk, by=cast(Account, request.user))
    except ExportNotFound:
        raise Http404 from None
    name = name_of(record.account, record.requested_at)
    headers = {"Content-Length": str(record.size), "Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(content_of(record), content_type="application/zip", headers=headers)


def waiting(request: HttpRequest) -> HttpResponse:
    """What waits for a decision: `{"waiting": [{"label", "count"}], "total"}`, for the title of open pages."""
    if request.method not in {"GET", "HEAD"}:
        return HttpResponseNotAllowed(["GET", "HEAD"])
    queues = cast(SuperAdminSite, admin.site).queues()
    counted = [{"label": queue.label, "count": queue.count} for queue in queues]
    counts = [queue.count for queue in queues]
    total = sum(int(count.rstrip("+")) for count in counts)
    more = "+" if any(count.endswith("+") for count in counts) else ""
    return JsonResponse({"waiting": counted, "total": f"{total}{more}"})


def _page(request: HttpRequest, template: str, **context: Any) -> TemplateResponse:
    return TemplateResponse(request, template, admin.site.each_context(request) | context)
