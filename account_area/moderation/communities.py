"""The communities of a moderator, a new one, and the page of each that has the posts to decide on.

The rules, the people and the log of a community.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from account_area.forms import sentence
from account_area.moderation import queries
from account_area.moderation.cards import cards
from account_area.moderation.forms import BanForm, ModeratorForm, NewCommunityForm, RulesForm, TryForm
from account_area.moderation.queries import numbers_of
from account_area.page import account_page
from account_area.people import person_of
from kernel.api.exceptions import ApiError, NotFound
from kernel.api.ids import parse_id
from kernel.api.pagination import CursorPage
from messaging.communities import bans, moderators
from messaging.communities.services import create_community, may_create
from messaging.markdown.reading import as_read
from messaging.models import Account, Act, BulkJob, Community, Decision, ReasonFor
from messaging.models.community import CREATED_MAX, NAME_MAX
from messaging.models.moderation import reasons_for
from messaging.moderation import moderators as moderating
from messaging.moderation.queries import stored_posts
from messaging.word_lists import compile_words
from messaging.word_lists.marking import marked

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
    numbers = numbers_of(community)
    # Without a state in the address, the list begins with what waits.
    first = "reported" if numbers["reported"] and not numbers["pending"] else "pending"
    tab = request.GET.get("state", first)
    if tab not in TABS:
        raise NotFound
    page = page_of(request, community, tab)
    listed = queries.posts_of(community=community, tab=tab, moderator=person_of(request), page=page)
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


Row = TypeVar("Row", bound=Model)
ACTS: dict[str, Any] = {
    Act.APPROVED: _("Approved a post"),
    Act.HIDDEN: _("Hid a post"),
    Act.RESTORED: _("Restored a post"),
    Act.DISMISSED: _("Closed the reports of a post"),
    Act.BANNED: _("Banned an account"),
    Act.UNBANNED: _("Lifted a ban"),
    Act.ADDED: _("Added a moderator"),
    Act.REMOVED: _("Removed a moderator"),
    Act.CHANGED: _("Changed the rules"),
    Act.CREATED: _("Created the community"),
    Act.UNDONE: _("Removed an import"),
    Act.ENDED: _("Ended a widget"),
    Act.EXCLUDED: _("Hid a post of others on the pages of the site"),
    Act.INCLUDED: _("Showed a post of others again on the pages of the site"),
    Act.CLOSED: _("Closed a discussion"),
    Act.REOPENED: _("Reopened a discussion"),
    Act.PINNED: _("Pinned a post"),
    Act.UNPINNED: _("Unpinned a post"),
}
OF_ALL_POSTS: dict[str, Any] = {
    Act.HIDDEN: _("Hid all posts of an author"),
    Act.RESTORED: _("Restored all posts of an author"),
}


@account_page
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    community = queries.community_of(slug=slug, by=person_of(request))
    tried: dict[str, Any] = {"try_form": TryForm(auto_id="try_%s")}
    form = RulesForm(instance=community)
    if request.method == "POST" and "try" in request.POST:
        tried = _tried(request, community)
    elif request.method == "POST":
        # One transaction: the form locks the row to compare it.
        with transaction.atomic():
            form = RulesForm(request.POST, instance=community)
            if form.is_valid():
                _save(form, by=person_of(request))
                messages.success(request, gettext("Saved."))
                return redirect(reverse("moderation-rules", args=[slug]))
    return render(request, "account_area/moderation/rules.html", frame(community, "rules") | tried | {"form": form})


def _save(form: RulesForm, *, by: Account) -> None:
    """`form.instance` has the new values already, so the service compares with the row that it reads."""
    changes = {column: form.cleaned_data[column] for column in form.changed_columns}
    reason = form.cleaned_data["reason"]
    moderating.change_rules(community_id=form.instance.pk, changes=changes, by=by, reason=reason)


def _tried(request: HttpRequest, community: Community) -> dict[str, Any]:
    form = TryForm(request.POST, auto_id="try_%s")
    if not form.is_valid():
        return {"try_form": form}
    text = as_read(form.cleaned_data["text"])
    matches = compile_words(tuple(community.blocked_words)).matches(text)
    words = list(dict.fromkeys(match.word for match in matches))
    return {"try_form": form, "tried": True, "matches": words, "pieces": marked(text, matches)}


@account_page
def people(request: HttpRequest, slug: str) -> HttpResponse:
    community = queries.community_of(slug=slug, by=person_of(request))
    action = request.POST.get("action", "")
    add = ModeratorForm(request.POST if action == "add" else None, auto_id="add_%s")
    ban = BanForm(request.POST if action == "ban" else None, auto_id="ban_%s")
    if request.method == "POST" and _changed(request, community, action, add=add, ban=ban):
        still = moderators.moderates(person_of(request), community.pk)
        return redirect(reverse("moderation-people", args=[slug]) if still else reverse("communities"))
    banned, older = _page(queries.bans_of(community, before=_before(request)))
    context = {
        "moderators": community.moderators.select_related("account"),
        "bans": banned,
        "older": older,
        "add": add,
        "ban_form": ban,
    }
    return render(request, "account_area/moderation/people.html", frame(community, "people") | context)


def _changed(request: HttpRequest, community: Community, action: str, *, add: ModeratorForm, ban: BanForm) -> bool:
    """Whether the page can be shown again: what was asked is done, or its refusal is a message."""
    shared = {"community_id": community.pk, "by": person_of(request)}
    if action == "add":
        handle = add.data.get("handle", "").strip().removeprefix("@").lower()
        return add.is_valid() and add.carry_out(moderators.add_moderator, handle=handle, **shared) is not None
    if action == "ban":
        return ban.is_valid() and _banned(ban, shared)
    services: dict[str, Callable[..., None]] = {"remove": moderators.remove_moderator, "lift": bans.lift_ban}
    if action not in services:
        raise NotFound
    account_id: UUID = parse_id(request.POST.get("account", ""), missing=NotFound)
    try:
        services[action](account_id=account_id, **shared)
    except ApiError as refusal:
        messages.error(request, sentence(refusal))
    return True


def _banned(form: BanForm, shared: dict[str, Any]) -> bool:
    account = queries.account_called(form.cleaned_data["handle"].strip())
    if account is None:
        form.add_error("handle", gettext("Nobody has this handle."))
        return False
    reason = form.cleaned_data["reason"]
    return form.carry_out(bans.ban_account, account_id=account.pk, reason=reason, **shared) is not None


@account_page(methods=("GET", "HEAD"))
def log(request: HttpRequest, slug: str) -> HttpResponse:
    community = queries.community_of(slug=slug, by=person_of(request))
    shown, older = _page(queries.decisions_of(community, before=_before(request)))
    context = {"decisions": [(decision, _act_of(decision)) for decision in shown], "older": older}
    return render(request, "account_area/moderation/log.html", frame(community, "log") | context)


def _act_of(decision: Decision) -> Any:
    """A newer release may write acts that this one does not know. One on an account is about all of its posts."""
    acts = ACTS | OF_ALL_POSTS if decision.account_id else ACTS
    return acts.get(decision.act, decision.act)


def _before(request: HttpRequest) -> int | None:
    """The number that the rows of a page have to be below; None: the first page."""
    sent = request.GET.get("before", "")
    return int(sent) if sent.isascii() and sent.isdigit() and len(sent) < 19 else None


def _page(found: list[Row]) -> tuple[list[Row], int | None]:
    """The rows of a page, and the number below which others follow."""
    shown = found[: queries.LISTED_MAX]
    return shown, shown[-1].pk if len(found) > len(shown) else None
