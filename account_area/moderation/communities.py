"""The communities of a moderator, a new one, and the page of each that has the posts to decide on."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from account_area.moderation import queries
from account_area.moderation.cards import cards
from account_area.moderation.counts import numbers_of
from account_area.moderation.forms import NewCommunityForm
from account_area.page import account_page
from account_area.people import person_of
from kernel.api.exceptions import NotFound
from kernel.api.ids import parse_id
from kernel.api.pagination import CursorPage
from messaging.communities.services import create_community, may_create
from messaging.models import BulkJob, Community, ReasonFor
from messaging.models.community import CREATED_MAX, NAME_MAX
from messaging.models.ready_reason import reasons_for
from messaging.moderation.queries import stored_posts

TABS = {
    "pending": (_("Pending"), _("Nothing waits for approval. Posts appear here where the rules hold them back.")),
    "reported": (_("Reported"), _("No post has open reports. What readers report appears here.")),
    "recent": (_("Recent"), _("Nobody has posted yet. The newest posts appear here.")),
    "hidden": (_("Hidden"), _("Posts that moderators hide appear here, and can be restored.")),
}


@account_page(methods=("GET", "HEAD"))
def communities(request: HttpRequest) -> HttpResponse:
    words = request.GET.get("q", "").strip()[:NAME_MAX]
    listed = queries.communities_of(person_of(request), words)
    context = {
        "communities": listed,
        "words": words,
        "has_search": bool(words) or len(listed) == queries.LISTED_MAX,
        "may_create": may_create(person_of(request)),
    }
    return render(request, "account_area/moderation/communities.html", context)


@account_page
def new(request: HttpRequest) -> HttpResponse:
    form = NewCommunityForm(request.POST or None)
    if form.is_valid():
        name, slug = form.cleaned_data["name"], form.cleaned_data["slug"] or None

        def create() -> str:
            community = create_community(owner=person_of(request), name=name, slug=slug)
            return reverse("moderation", args=[community.slug])

        if location := form.submit_once(person_of(request), create):
            return redirect(location)
    context = {"form": form, "may_create": may_create(person_of(request)), "max": CREATED_MAX}
    return render(request, "account_area/moderation/new.html", context)


@account_page(methods=("GET", "HEAD"))
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    community = queries.community_of(slug=slug, by=person_of(request))
    return render(
        request, "account_area/moderation/queue.html", frame(community, "queue") | queue_of(request, community)
    )


def queue_of(request: HttpRequest, community: Community) -> dict[str, Any]:
    """The context of `posts.html` for a moderator. Raises NotFound (404), InvalidCursor (400)."""
    tab = request.GET.get("state", "pending")
    if tab not in TABS:
        raise NotFound
    page = page_of(request, community, tab)
    listed = queries.posts_of(community=community, tab=tab, moderator=person_of(request), page=page)
    numbers = numbers_of(community)
    return listed | {
        "community": community,
        "tab": tab,
        "empty": TABS[tab][1],
        "states": [(name, label, numbers[name]) for name, (label, _empty) in TABS.items()],
        "undo": _hidden_just_now(request),
        "hidings": _hidings(request, community, tab),
        "here": request.get_full_path(),
        # Hidden posts are not hidden again.
        "reasons": [] if tab == "hidden" else reasons_for(ReasonFor.POST),
    }


def page_of(request: HttpRequest, community: Community, tab: str) -> CursorPage:
    sent = {"limit": queries.POSTS_OF_PAGE, "community": community.pk, "state": tab}
    if request.GET.get("cursor"):
        sent["cursor"] = request.GET["cursor"]
    return CursorPage.of("moderation-page", sent)


@account_page(methods=("GET", "HEAD"))
def post(request: HttpRequest, slug: str, post_id: str) -> HttpResponse:
    """One post with its whole text, in any status."""
    community = queries.community_of(slug=slug, by=person_of(request))
    message_id: UUID = parse_id(post_id, missing=NotFound)
    found = stored_posts(community_id=community.pk, ids=[message_id])
    if not found:
        raise NotFound
    context = {
        "cards": cards(found, community, whole=True),
        "here": request.get_full_path(),
        "reasons": reasons_for(ReasonFor.POST),
    }
    return render(request, "account_area/moderation/post.html", frame(community, "queue") | context)


def _hidden_just_now(request: HttpRequest) -> list[tuple[str, str]]:
    """The ids of posts with the times of their hiding, which an earlier release does not send."""
    pairs = zip_longest(request.GET.getlist("hid"), request.GET.getlist("at"), fillvalue="")
    return list(pairs)[: queries.LISTED_MAX]


def _hidings(request: HttpRequest, community: Community, tab: str) -> list[BulkJob]:
    """Those of all posts of an author that can be undone: all in the list of hidden posts, else the one of just now."""
    job = request.GET.get("job", "")
    if tab != "hidden" and not job:
        return []
    return [hiding for hiding in queries.hidings_of(community) if tab == "hidden" or str(hiding.pk) == job]


def frame(community: Community, section: str) -> dict[str, Any]:
    """What the pages of a community have in common."""
    return {"community": community, "section": section, "has_hosts": settings.DOMAIN_CHECKS}
