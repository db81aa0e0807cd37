"""Hides all posts of an author in a community, and undoes it."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, ngettext

from account_area.forms import sentence
from account_area.moderation import queries
from account_area.moderation.decisions import reason_of
from account_area.moderation.queries import list_url
from account_area.page import account_page
from account_area.people import person_of
from kernel.api.exceptions import ApiError, InvalidInput, NotFound
from kernel.api.ids import parse_id
from messaging.models import BulkJob, JobState
from messaging.moderation import moderators
from messaging.moderation.lists.running import run_now


@account_page(methods=("POST",))
def hide_author(request: HttpRequest, slug: str) -> HttpResponse:
    community = queries.community_of(slug=slug, by=person_of(request))
    author_id: UUID = parse_id(request.POST.get("author", ""), missing=NotFound)
    reason = reason_of(request)
    if not reason:
        raise InvalidInput("Send a reason.", field="reason")
    by = person_of(request)
    told = []
    try:
        job = run_now(moderators.hide_author(community_id=community.pk, account_id=author_id, by=by, reason=reason))
    except ApiError as refusal:
        messages.error(request, sentence(refusal))
    else:
        told = [("job", str(job.pk))]
        messages.success(request, _hidden(job))
    return redirect(list_url(request, community, told))


@account_page(methods=("POST",))
def undo_hide_author(request: HttpRequest, slug: str, job_id: UUID) -> HttpResponse:
    community = queries.community_of(slug=slug, by=person_of(request))
    try:
        job = run_now(moderators.undo_hide_author(community_id=community.pk, job_id=job_id, by=person_of(request)))
    except ApiError as refusal:
        if isinstance(refusal, NotFound):
            raise
        messages.error(request, sentence(refusal))
    else:
        messages.success(request, _restored(job))
    return redirect(list_url(request, community))


def _hidden(job: BulkJob) -> str:
    if job.state == JobState.RUNNING:
        return gettext("The posts of this author are being hidden here. It goes on if you leave this page.")
    text = ngettext("%(number)s post of this author hidden.", "%(number)s posts of this author hidden.", job.done)
    return text % {"number": job.done}


def _restored(job: BulkJob) -> str:
    if job.state == JobState.RUNNING:
        return gettext("The posts of this author are being restored here. It goes on if you leave this page.")
    text = ngettext("%(number)s post restored.", "%(number)s posts restored.", job.done)
    left = job.total - job.done
    others = ngettext(
        "%(number)s was decided on since, and stays.", "%(number)s were decided on since, and stay.", left
    )
    return " ".join([text % {"number": job.done}, *([others % {"number": left}] if left else [])])
