"""Mails about tokens that expire soon, to the operators of their agents.

Mails about the health of the service, to super admins.

Mails about agent requests: to super admins when one is made, to the requester when it is decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agents.models import AgentRequest, AgentToken, RequestStatus
from agents.words import added_by, asked_and_granted
from mails import places
from mails.contents.parts import Content, Item, Quote, ids_in, one_line
from mails.models import Notice
from messaging.inbox.events import ServiceEvent
from messaging.models import Account


def troubles(account: Account, notices: Sequence[Notice]) -> Content:
    """What began and what ended, in order; nothing for a person who is no super admin any more."""
    found = notices if account.is_superuser else []
    items = [_trouble(notice) for notice in found if notice.data]
    return Content(
        subject=items[-1].sentence if items else "",
        reason=_("You get this mail because you are a super admin."),
        items=items,
    )


def _trouble(notice: Notice) -> Item:
    data: Mapping[str, Any] = notice.data or {}
    names = {"trouble": one_line(str(data["text"]), 100), "since": _moment(datetime.fromisoformat(data["since"]))}
    if notice.type == ServiceEvent.TROUBLE_ENDED:
        sentence = _("Over: %(trouble)s (since %(since)s)") % names
    else:
        sentence = _("%(trouble)s, since %(since)s") % names
    return Item(sentence, places.admin(), _("Open the overview"))


def _moment(moment: datetime) -> str:
    return f"{date_format(moment, 'DATE_FORMAT')} {moment:%H:%M} UTC"


DECIDED = {RequestStatus.APPROVED, RequestStatus.REJECTED}


def new_requests(account: Account, notices: Sequence[Notice]) -> Content:
    """The requests that are pending still; nothing for a person who is no super admin any more."""
    found = _requests(notices) if account.is_superuser else []
    pending = [request for request in found if request.status == RequestStatus.PENDING]
    added = _added(pending)
    items = [_new(request, added.get(request.pk, "")) for request in pending]
    return Content(
        subject=ngettext("%(count)d new agent request", "%(count)d new agent requests", len(items))
        % {"count": len(items)},
        reason=_("You get this mail because you are a super admin."),
        items=items,
    )


def decisions(account: Account, notices: Sequence[Notice]) -> Content:
    found = [request for request in _requests(notices) if request.requester_id == account.pk]
    grants = asked_and_granted(found)
    decided = [request for request in found if request.status in DECIDED]
    added = _added(decided)
    items = [_decision(request, grants.get(request.pk), added.get(request.pk, "")) for request in decided]
    return Content(
        subject=items[0].sentence if len(items) == 1 else _("Your agent requests are decided"),
        reason=_("You get this mail because you have asked for an agent."),
        items=items,
    )


def _requests(notices: Sequence[Notice]) -> list[AgentRequest]:
    ids = ids_in(notices, "requestId")
    return list(
        AgentRequest.objects.filter(pk__in=ids)
        .select_related("requester", "agent", "widens")
        .order_by("created_at", "id")
    )


def _added(requests: Sequence[AgentRequest]) -> dict[UUID, str]:
    """What each widening among them asks for beside what its agent had."""
    added = added_by([request for request in requests if request.widens_id is not None])
    return {pk: one_line(", ".join(chain(*words)), 500) for pk, words in added.items()}


def _new(request: AgentRequest, added: str) -> Item:
    names = {"name": one_line(request.requester.name), "agent": request.agent_handle}
    details = []
    sentence = _("%(name)s asks for the agent @%(agent)s") % names
    if request.widens_id is not None:
        sentence = _("%(name)s asks for more rights of the agent @%(agent)s") % names
        details = [_("Asked for: %(grant)s") % {"grant": added}]
    link, text = places.request_in_admin(request.pk), _("Review it")
    return Item(sentence, link, text, Quote.of(request.purpose), details=details)


def _decision(request: AgentRequest, grants: Sequence[tuple[str, str]] | None, added: str) -> Item:
    names: dict[str, Any] = {"agent": request.agent_handle}
    reason = [_("Reason: %(reason)s") % {"reason": one_line(request.reason, 500)}] if request.reason else []
    if request.status == RequestStatus.APPROVED:
        sentence = _("Your agent @%(agent)s is approved") % names
        if request.widens_id is not None:
            sentence = _("Your agent @%(agent)s may do more now") % names
            if grants:
                sentence = _("Your agent @%(agent)s may do more now, but less than you asked") % names
        elif grants:
            sentence = _("Your agent @%(agent)s is approved, for less than you asked") % names
        details = [f"{label}: {one_line(grant, 500)}" for label, grant in grants or ()]
        if added and not grants:
            details = [_("Added: %(grant)s") % {"grant": added}]
        details += reason
        link_text = _("Create its token") if request.widens_id is None else _("To the agent")
        return Item(sentence, places.agent(request.agent_handle), link_text, details=details)
    sentence = _("Your request for the agent @%(agent)s was rejected") % names
    if request.widens_id is not None:
        sentence = _("Your request for more rights of @%(agent)s was rejected") % names
        reason = [_("Asked for: %(grant)s") % {"grant": added}, *reason]
    return Item(sentence, places.agents(), _("Open my agents"), details=reason)


def expiring_tokens(account: Account, notices: Sequence[Notice]) -> Content:
    """The tokens that are active still."""
    ids = ids_in(notices, "tokenId")
    found = AgentToken.objects.active().filter(pk__in=ids, agent__operator=account)
    items = [_token(token) for token in found.select_related("agent__account").order_by("expires_at", "id")]
    return Content(
        subject=items[0].sentence if len(items) == 1 else _("Tokens of your agents expire soon"),
        reason=_("You get this mail because you operate this agent."),
        items=items,
    )


def _token(token: AgentToken) -> Item:
    handle = token.agent.account.handle
    names = {"agent": handle, "date": date_format(token.expires_at, "DATE_FORMAT")}
    # The label, else what the lists of tokens show of its value.
    details = [_("Token: %(token)s") % {"token": one_line(token.label or f"{token.prefix}…")}]
    sentence = _("A token of @%(agent)s expires on %(date)s") % names
    return Item(sentence, places.agent(handle), _("Create a new token"), details=details)
