"""The admin actions on agent requests, agents and agent tokens.

Text and badges for the grants and states of agents, requests and tokens.

The form that chooses scopes and communities when a request is approved or an agent is narrowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString

from agents.models import Agent, AgentRequest, AgentToken, RequestStatus, Scope, TokenStatus
from agents.services import (
    UNDO_SECONDS,
    approve_request,
    freeze_agent,
    narrow_agent,
    reject_request,
    revoke_agent_tokens,
    revoke_token,
    undo_decision,
    unfreeze_agent,
)
from agents.services.requests import Grant, asked_grant, former_grant, grant_changes, narrowed_to
from kernel.admin.actions import AdminAction, AdminActionForm
from kernel.admin.formatting import badge, lines, link
from messaging.models import Community
from messaging.moderation.lists.lists import distinct_names

SCOPES = {
    Scope.POST: "write posts",
    Scope.REPLY: "reply to posts",
    Scope.QUOTE: "quote posts",
    Scope.REACT: "react with emoji",
}
NAMED_MAX = 3
REQUEST_BADGES = {RequestStatus.PENDING: "waiting", RequestStatus.APPROVED: "good", RequestStatus.REJECTED: "bad"}
TOKEN_BADGES = {TokenStatus.ACTIVE: "good", TokenStatus.REVOKED: "bad", TokenStatus.SUSPENDED: "bad"}


def describe_scopes(scopes: Sequence[str]) -> str:
    return ", ".join(SCOPES[Scope(scope)] for scope in scopes)


def summarize_grant(scopes: Sequence[str], community_ids: Sequence[UUID]) -> str:
    """A summary for lists: it needs no query per row."""
    count = f"{len(community_ids)} communit{'y' if len(community_ids) == 1 else 'ies'}"
    return f"{', '.join(scopes)} in {count if community_ids else 'every community'}"


def name_grant(scopes: Sequence[str], communities: Sequence[str]) -> str:
    """`post, react in Harbour, Gazette and 3 more`."""
    more = len(communities) - NAMED_MAX
    named = ", ".join(communities[:NAMED_MAX]) + (f" and {more} more" if more > 0 else "")
    return f"{', '.join(scopes)} in {named or 'every community'}"


def describe_request(request: AgentRequest, names: Mapping[UUID, str]) -> str:
    """What was asked for and, where that is less, what is granted; what a widening adds to the grant of its agent."""
    asked, granted = asked_grant(request), narrowed_to(request)
    if granted is None and request.widens_id is not None:
        return f"more: {grant_changes(former_grant(request), asked, names) or 'nothing'}"
    if granted is None:
        return _named(asked, names)
    return f"asked: {_named(asked, names)}; granted: {_named(granted, names)}"


def added_grant(request: AgentRequest) -> Grant:
    """The scopes and communities that a widening asks for beside what its agent has; none for every community."""
    (scopes, communities), (asked, more) = former_grant(request), asked_grant(request)
    return [scope for scope in asked if scope not in scopes], [pk for pk in more if pk not in communities]


def state_text(request: AgentRequest) -> str:
    return str(request.status) if narrowed_to(request) is None else f"{request.status}, narrowed"


def _named(grant: Grant, names: Mapping[UUID, str]) -> str:
    return name_grant(grant[0], [names.get(pk, f"unknown: {pk}") for pk in grant[1]])


def describe_communities(ids: Sequence[UUID]) -> str | SafeString:
    if not ids:
        return "every community"
    known = Community.objects.in_bulk(ids)
    return lines([link(known[pk]) if pk in known else f"unknown: {pk}" for pk in ids])


def request_badge(request: AgentRequest) -> SafeString:
    return badge(state_text(request), REQUEST_BADGES.get(RequestStatus(request.status), ""))


def token_badge(token: AgentToken) -> SafeString:
    return badge(token.status, TOKEN_BADGES.get(token.status, ""))


def agent_badge(agent: Agent) -> SafeString:
    if agent.frozen_at is not None:
        return badge("frozen", "bad")
    if not agent.operator.is_active:
        return badge("operator suspended", "bad")
    if agent.account.is_active:
        return badge("working", "good")
    # The request of an erasure stops the agents, and its cancellation activates them.
    return badge("deleted" if agent.operator.erasure_due_at is None else "operator leaving", "bad")


class FrozenFilter(SimpleListFilter):
    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("working", "Working"),
            ("frozen", "Frozen"),
            ("suspended", "Operator suspended"),
            ("leaving", "Operator leaving"),
            ("deleted", "Deleted"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Agent]) -> QuerySet[Agent]:
        match self.value():
            case "working":
                return queryset.filter(frozen_at=None, operator__is_active=True, account__is_active=True)
            case "frozen":
                return queryset.filter(frozen_at__isnull=False)
            case "suspended":
                return queryset.filter(operator__is_active=False)
            case "leaving":
                return queryset.filter(account__is_active=False, operator__erasure_due_at__isnull=False)
            case "deleted":
                return queryset.filter(account__is_active=False, operator__erasure_due_at=None)
        return queryset


class TokenStatusFilter(SimpleListFilter):
    """Filters by `AgentToken.status`, which is computed and has no column."""

    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(status.value, str(status.label)) for status in TokenStatus]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AgentToken]) -> QuerySet[AgentToken]:
        now = timezone.now()
        valid = Q(revoked_at=None, expires_at__gt=now)
        match self.value():
            case TokenStatus.ACTIVE:
                return queryset.filter(valid).exclude(agent__in=Agent.objects.stopped())
            case TokenStatus.SUSPENDED:
                return queryset.filter(valid, agent__in=Agent.objects.stopped())
            case TokenStatus.REVOKED:
                return queryset.filter(revoked_at__isnull=False)
            case TokenStatus.EXPIRED:
                return queryset.filter(revoked_at=None, expires_at__lte=now)
        return queryset


LISTED_MAX = 500
MORE = f" Only the first {LISTED_MAX} by name are listed; the API accepts the ids of the others."


def offered_communities() -> list[tuple[UUID, str]]:
    """The first LISTED_MAX by name, and one more if there are more."""
    return distinct_names(Community.objects.order_by("name", "pk")[: LISTED_MAX + 1])


class GrantForm(AdminActionForm):
    """Offers the scopes and communities of the row (a request or an agent), all selected.

    A request that widens an agent offers only what it adds: the form has no field where it adds nothing.
    """

    scopes = forms.MultipleChoiceField(
        label="Permissions", widget=forms.CheckboxSelectMultiple, error_messages={"required": "Select at least one."}
    )
    community_ids = forms.TypedMultipleChoiceField(
        label="Communities", coerce=UUID, error_messages={"required": "Select at least one."}
    )
    field_order = ["scopes", "community_ids", "reason"]

    def __init__(self, *args: Any, row: Any, **kwargs: Any) -> None:
        super().__init__(*args, row=row, **kwargs)
        scopes: Any = self.fields["scopes"]
        is_widening = isinstance(row, AgentRequest) and row.widens_id is not None
        offered, communities = added_grant(row) if is_widening else (row.scopes, row.community_ids)
        scopes.choices = [(scope, SCOPES[Scope(scope)]) for scope in offered]
        scopes.initial = offered
        self._offer_communities(self.fields["community_ids"], communities)
        if is_widening:
            scopes.required = self.fields["community_ids"].required = False
            if not offered:
                del self.fields["scopes"]
            if not communities and not row.every_community:
                del self.fields["community_ids"]

    def _offer_communities(self, field: Any, current: Sequence[UUID]) -> None:
        known = Community.objects.order_by("name", "pk")
        field.required = bool(current)
        if current:
            names = dict(distinct_names(known.filter(pk__in=current)))
            field.choices = [(pk, names.get(pk, f"unknown: {pk}")) for pk in current]
            field.initial = current
            field.widget = forms.CheckboxSelectMultiple(choices=field.choices)
        else:
            offered = offered_communities()
            field.choices = offered[:LISTED_MAX]
            field.help_text = "Select none to allow every community." + (MORE if len(offered) > LISTED_MAX else "")


def _is_pending(request: AgentRequest) -> bool:
    return request.status == RequestStatus.PENDING


def _may_be_undoable(request: AgentRequest) -> bool:
    """By the clock of this host: the service decides, and whether the agent has a token."""
    if request.status == RequestStatus.APPROVED and request.decided_at is not None:
        return timezone.now() - request.decided_at < timedelta(seconds=UNDO_SECONDS)
    return request.status == RequestStatus.REJECTED


APPROVE = AdminAction(
    name="approve",
    label="Approve",
    confirmation=(
        "Creates the agent, or adds to what it may do; the requester can create its tokens. Untick permissions and "
        "communities to deny."
    ),
    success_message="approved",
    run=lambda row, **arguments: approve_request(request_id=row.pk, **arguments),
    is_available=_is_pending,
    form=GrantForm,
    bulk=False,
    key="a",
    undo="undo",
)
REJECT = AdminAction(
    name="reject",
    label="Reject",
    confirmation="The requester can read the reason. The handle becomes available again.",
    success_message="rejected",
    run=lambda row, **arguments: reject_request(request_id=row.pk, **arguments),
    is_available=_is_pending,
    needs_reason=True,
    key="r",
    undo="undo",
)
UNDO = AdminAction(
    name="undo",
    label="Undo the decision",
    confirmation=(
        f"The request is pending again. An approval can be undone for {UNDO_SECONDS} seconds, until a token is "
        "created; freeze the agent later. A rejection can be undone at any time, if its handle is still free."
    ),
    success_message="pending again",
    run=lambda row, **arguments: undo_decision(request_id=row.pk, **arguments),
    is_available=_may_be_undoable,
)
FREEZE = AdminAction(
    name="freeze",
    label="Freeze",
    confirmation="Disables all its tokens at once, until the agent is unfrozen.",
    success_message="frozen",
    run=lambda row, **arguments: freeze_agent(agent=row, **arguments),
    is_available=lambda row: row.frozen_at is None,
    needs_reason=True,
    inline=True,
)
UNFREEZE = AdminAction(
    name="unfreeze",
    label="Unfreeze",
    confirmation="Enables its tokens again, except those that are revoked or expired.",
    success_message="unfrozen",
    run=lambda row, **arguments: unfreeze_agent(agent=row, **arguments),
    is_available=lambda row: row.frozen_at is not None,
    inline=True,
)
NARROW = AdminAction(
    name="narrow",
    label="Narrow",
    confirmation="Untick permissions or communities to remove them from all its tokens at once. This cannot be undone.",
    success_message="narrowed",
    run=lambda row, **arguments: narrow_agent(agent=row, **arguments),
    form=GrantForm,
    needs_reason=True,
    bulk=False,
)
REVOKE_ALL = AdminAction(
    name="revoke",
    label="Revoke all tokens",
    confirmation="Revokes every active token for good. The operator can create new ones unless the agent is frozen.",
    success_message="all tokens revoked",
    run=lambda row, **arguments: revoke_agent_tokens(agent=row, **arguments),
    needs_reason=True,
)
REVOKE = AdminAction(
    name="revoke",
    label="Revoke",
    confirmation="Revokes the token at once and for good.",
    success_message="revoked",
    run=lambda row, **arguments: revoke_token(token_id=row.pk, **arguments),
    is_available=lambda row: row.status in {TokenStatus.ACTIVE, TokenStatus.SUSPENDED},
    needs_reason=True,
)
