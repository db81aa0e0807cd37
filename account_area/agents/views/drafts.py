"""The posts of an agent that wait for its operator, the decisions on them, and the switch that makes them wait."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from account_area.agents import queries
from account_area.forms import sentence
from account_area.page import account_page
from account_area.people import person_of
from agents.models import REASON_MAX, Agent, Review
from agents.services import drafts_of, reject_draft, release_draft, set_review
from kernel.admin.changelists import seen_at
from kernel.api.exceptions import ApiError, InvalidInput
from kernel.api.ids import parse_id
from messaging.models import Account, MessageStatus
from messaging.posts.exceptions import MessageNotFound

SHOWN = 30
SERVICES = {"release": release_draft, "reject": reject_draft}


@account_page
def drafts(request: HttpRequest, handle: str) -> HttpResponse:
    """The forms of the inbox lead here too, and back to it."""
    person = person_of(request)
    agent = queries.own_agent(person, handle)
    if request.method == "POST":
        _change(request, agent, person)
        if request.POST.get("next") == "inbox":
            return redirect("account_inbox")
        return redirect("account_agent_drafts", handle)
    listed = list(drafts_of(agent.pk)[: SHOWN + 1])
    context = {"agent": agent, "tab": "drafts", "drafts": listed[:SHOWN], "has_more": len(listed) > SHOWN}
    return render(request, "account_area/agents/drafts.html", context)


def _change(request: HttpRequest, agent: Agent, person: Account) -> None:
    review, decision = request.POST.get("review"), request.POST.get("decision")
    if review in Review.values:
        set_review(agent_id=agent.pk, review=review, by=person)
        messages.success(request, _("Changed."))
    elif decision in SERVICES:
        try:
            _decide(request, agent, person, decision)
        except ApiError as refusal:
            messages.error(request, sentence(refusal))
    else:
        raise InvalidInput("Choose what to do.", field="decision")


def _decide(request: HttpRequest, agent: Agent, person: Account, decision: str) -> None:
    message_id = parse_id(request.POST.get("post", ""), missing=MessageNotFound)
    reason = request.POST.get("reason", "").strip()
    if len(reason) > REASON_MAX:
        raise InvalidInput(f"Send a reason of at most {REASON_MAX} characters.", field="reason")
    times = {"seen_at": seen_at(request.POST, message_id)}
    decided = SERVICES[decision](agent_id=agent.pk, message_id=message_id, by=person, reason=reason, **times)
    done = {
        MessageStatus.PUBLISHED: _("The post is public now."),
        MessageStatus.PENDING: _("The post waits for the moderators of its community now."),
        MessageStatus.HIDDEN: _("The post is rejected. The agent reads your reason."),
    }
    messages.success(request, done[MessageStatus(decided.status)])
