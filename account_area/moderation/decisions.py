"""Carries out what a moderator has decided on one or several posts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from account_area.forms import sentence
from account_area.moderation import queries
from account_area.moderation.queries import list_url
from account_area.page import account_page
from account_area.people import person_of
from kernel.admin.actions import REASON_MAX
from kernel.admin.changelists import decided_at, seen_at
from kernel.api.exceptions import ApiError, InvalidInput
from kernel.api.ids import is_id
from messaging.communities import bans
from messaging.models import Account, Community
from messaging.moderation import moderators, pages
from messaging.moderation.queries import stored_posts
from messaging.pages import discussions

Decide = Callable[..., Any]
POST_DECISIONS: dict[str, Decide] = {
    "approve": moderators.approve,
    "dismiss": moderators.dismiss,
    "hide": moderators.hide,
    "restore": moderators.restore,
    "undo-hiding": moderators.undo_hiding,
}
# Decisions about the page of a post, and about the place of a post on it.
OF_PAGE: dict[str, Decide] = {"close": discussions.close_discussion, "reopen": discussions.reopen_discussion}
OF_PLACE: dict[str, Decide] = {"pin": pages.pin_message, "unpin": pages.unpin_message}
NOTHING = _("Nothing was chosen. Select posts first.")


@account_page(methods=("POST",))
def decide(request: HttpRequest, slug: str) -> HttpResponse:
    community = queries.community_of(slug=slug, by=person_of(request))
    decision = request.POST.get("decision", "")
    ids = [UUID(sent) for sent in dict.fromkeys(request.POST.getlist("posts")) if is_id(sent)][: queries.LISTED_MAX]
    reason = reason_of(request)
    if decision not in (*POST_DECISIONS, *OF_PAGE, *OF_PLACE, "ban"):
        raise InvalidInput("Choose what to do.", field="decision")
    by = person_of(request)
    posts = stored_posts(community_id=community.pk, ids=ids)
    done, refusals = _carry_out(community, decision, posts, request.POST, by=by, reason=reason)
    _tell(request, decision, done, refusals)
    # The list offers to undo what was hidden.
    hidden = done if decision == "hide" else {}
    told = [pair for pk, at in hidden.items() for pair in (("hid", str(pk)), ("at", at.isoformat() if at else ""))]
    return redirect(list_url(request, community, told))


def reason_of(request: HttpRequest) -> str:
    reason = request.POST.get("reason", "").strip()
    if len(reason) > REASON_MAX:
        raise InvalidInput(f"Send a reason of at most {REASON_MAX} characters.", field="reason")
    return reason


def _carry_out(
    community: Community,
    decision: str,
    posts: list[dict[str, Any]],
    sent: Mapping[str, str],
    *,
    by: Account,
    reason: str,
) -> tuple[dict[UUID, datetime | None], list[ApiError]]:
    """Each by itself: a refusal, as of a post already decided on, undoes no other. Returns posts with `decided_at`."""
    done: dict[UUID, datetime | None] = {}
    refusals = []
    for post in posts:
        try:
            if decision == "ban":
                author = post["author"]["id"]
                bans.ban_account(community_id=community.pk, account_id=author, by=by, reason=reason)
                done[post["id"]] = None
            elif decision in OF_PAGE:
                OF_PAGE[decision](community_id=community.pk, page_id=post["pageId"], by=by, reason=reason)
                done[post["id"]] = None
            elif decision in OF_PLACE:
                OF_PLACE[decision](message_id=post["id"], by=by, reason=reason)
                done[post["id"]] = None
            else:
                times = _times(decision, sent, post["id"])
                decided = POST_DECISIONS[decision](message_id=post["id"], by=by, reason=reason, **times)
                done[post["id"]] = decided.decided_at
        except ApiError as refusal:
            refusals.append(refusal)
    return done, refusals


def _times(decision: str, sent: Mapping[str, str], pk: UUID) -> dict[str, datetime | None]:
    """What the page showed, which the decision is about."""
    if decision in ("approve", "dismiss"):
        return {"seen_at": seen_at(sent, pk)}
    return {"decided_at": decided_at(sent, pk)} if decision == "undo-hiding" else {}


def _tell(request: HttpRequest, decision: str, done: Collection[UUID], refusals: list[ApiError]) -> None:
    number = len(done)
    if number:
        restored = ngettext("%(number)s post restored.", "%(number)s posts restored.", number)
        texts = {
            "approve": ngettext("%(number)s post approved.", "%(number)s posts approved.", number),
            "dismiss": ngettext(
                "Reports of %(number)s post dismissed.", "Reports of %(number)s posts dismissed.", number
            ),
            "hide": ngettext("%(number)s post hidden.", "%(number)s posts hidden.", number),
            "restore": restored,
            "undo-hiding": restored,
            "ban": gettext("The author is banned from this community."),
            "pin": gettext("The post is pinned: the widget shows it first on its page."),
            "unpin": gettext("The post is not pinned any more."),
            "close": gettext("The discussion on the page is closed."),
            "reopen": gettext("The discussion on the page is open again."),
        }
        messages.success(request, texts[decision] % {"number": number})
    for text in dict.fromkeys(map(sentence, refusals)):
        messages.error(request, text)
    if not done and not refusals:
        messages.error(request, str(NOTHING))
