"""The export of a community's posts."""

from __future__ import annotations

from typing import cast

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from account_area.moderation import queries
from account_area.moderation.communities import frame
from account_area.page import READ_METHODS, account_page
from account_area.people import person_of
from kernel.api import throttling
from kernel.api.exceptions import NotFound
from messaging.models import Account, Community
from moving.exports.exporting import FORMATS
from moving.exports.files import Download
from moving.exports.reading import of_community

# What a format is for, the best one first.
USES = {
    "jsonl": _("JSON Lines: everything, to import it here or into another installation"),
    "disqus": _("XML as Disqus writes it: threads and texts, for other comment systems"),
    "csv": _("A table (CSV) for spreadsheets"),
}


@account_page(methods=READ_METHODS)
def export(request: HttpRequest, slug: str) -> HttpResponse:
    """The page; with `?format=` the file, and with `&pending=1` also posts that wait for approval."""
    person = person_of(request)
    community = queries.community_of(slug=slug, by=person)
    if "format" in request.GET:
        return _file(request, community, person)
    return render(request, "account_area/moderation/export.html", frame(community, "export") | {"uses": USES.items()})


def _file(request: HttpRequest, community: Community, person: Account) -> HttpResponse:
    chosen = FORMATS.get(request.GET["format"])
    if chosen is None:
        raise NotFound
    name = f"{community.slug}-{timezone.now():%Y-%m-%d}.{chosen.extension}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    if request.method == "HEAD":
        return HttpResponse(content_type=chosen.content_type, headers=headers)
    throttling.hit("account_page", str(person.pk))
    scope = of_community(community, with_pending=request.GET.get("pending") == "1")
    content = Download(scope, request.GET["format"], account_id=person.pk)
    return cast(HttpResponse, StreamingHttpResponse(content, content_type=chosen.content_type, headers=headers))
