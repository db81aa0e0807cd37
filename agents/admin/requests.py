"""The admin of agent requests: the queue, the page of a request, and what a decision rests on.

The list shows warnings, names of communities and the operator's history; the page also the requester's other agents
and requests. Both load these for all their rows together.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast
from uuid import UUID

from django.contrib import admin
from django.db.models import Aggregate, Count, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agents.admin.actions import (
    APPROVE,
    LISTED_MAX,
    REJECT,
    REQUEST_BADGES,
    SCOPES,
    UNDO,
    added_grant,
    describe_communities,
    describe_request,
    describe_scopes,
    offered_communities,
    request_badge,
    state_text,
)
from agents.admin.look_alikes import LookAlikes, look_alikes_of
from agents.models import Agent, AgentRequest, AgentToken, RefusedCall, RequestStatus, Scope
from agents.services import UNDO_SECONDS
from agents.services.requests import community_names, narrowed_to
from kernel.admin.actions import AdminAction, AdminActionForm
from kernel.admin.changelists import CountedChoices, QueueSummary
from kernel.admin.formatting import NOTHING, age, ago, badge, change_url, external_link, lines, link, plain
from kernel.database.sql import fetch_all
from messaging.models import Account, Message, MessageStatus, ReasonFor
from messaging.moderation.lists.deciding import choices_of
from messaging.moderation.lists.lists import DecidingAdmin
from messaging.moderation.lists.many import came_from, first_found

NEW_ACCOUNT = timedelta(days=7)
MANY_REJECTED = 2
MANY_REFUSED = 100
# Each is run for any number of rows, none included.
COMMUNITIES = """
SELECT id, CASE WHEN count(*) OVER (PARTITION BY name) > 1 THEN name || ' (' || slug || ')' ELSE name END
FROM messaging_community WHERE id = ANY(%s)
"""
REJECTED = """
SELECT requester_id, count(*) FROM agents_agentrequest
WHERE requester_id = ANY(%s) AND status = 'rejected' GROUP BY requester_id
"""
REFUSED = """
SELECT agent.operator_id, sum(calls.calls)::bigint FROM agents_refusedcall calls
JOIN agents_agent agent ON agent.account_id = calls.agent_id
WHERE agent.operator_id = ANY(%s) GROUP BY agent.operator_id
"""


def prepare(rows: Sequence[Any]) -> None:
    """Set what the list shows of each request (`look_alikes`, `grants`, `warnings`, …), with four queries."""
    requesters = {row.requester_id for row in rows}
    names = _by_id(COMMUNITIES, {pk for row in rows for pk in _communities_of(row)})
    rejected, refused = _by_id(REJECTED, requesters), _by_id(REFUSED, requesters)
    similar = look_alikes_of([row for row in rows if row.status == RequestStatus.PENDING and not row.widens_id])
    for row in rows:
        row.look_alikes = similar.get(row.pk, LookAlikes())
        scopes, communities = added_grant(row) if row.widens_id else (row.scopes, row.community_ids)
        row.offered_scopes = [(scope, SCOPES[Scope(scope)]) for scope in scopes]
        row.community_names = [(pk, names.get(pk, f"unknown: {pk}")) for pk in communities]
        row.grants = describe_request(row, names)
        row.warnings = list(_warnings(row, rejected.get(row.requester_id, 0), refused.get(row.requester_id, 0)))


def _communities_of(row: AgentRequest) -> list[UUID]:
    agent = row.subject
    return [*row.community_ids, *(row.former_community_ids or ()), *(agent.community_ids if agent else ())]


def _by_id(statement: str, ids: set[UUID]) -> dict[UUID, Any]:
    return {row[0]: row[1] for row in fetch_all(statement, [list(ids)])}


def _warnings(row: AgentRequest, rejected: int, refused: int) -> Any:
    """(text, kind of the badge)"""
    if row.status != RequestStatus.PENDING:
        return
    if row.widens_id is not None:
        yield "asks for more", ""
    similar: LookAlikes = row.look_alikes  # type: ignore[attr-defined]  # set by `prepare`
    if similar.nearest:
        first = similar.nearest[0]
        yield f"@{first.handle} {first.likeness}", "bad"
    if similar.series:
        yield f"series {similar.series_text}", "" if similar.is_own else "bad"
    if timezone.now() - row.requester.created_at < NEW_ACCOUNT:
        yield "new account", "waiting"
    if rejected >= MANY_REJECTED:
        yield f"{rejected} rejected requests", "bad"
    if refused >= MANY_REFUSED:
        yield f"{refused} refused calls", "bad"


ASKED: Any = (
    "Requested permissions",
    {"fields": ["permissions", "communities", "granted"]},
)
SHOWN_MAX = 10
COUNT = Count("pk")


def agents_of(requester: Account, *, exclude: UUID | None) -> QuerySet[Agent]:
    """The agents of a person, newest first, with the counts `posts`, `hidden`, `active_tokens` and `refused`."""
    agents = Agent.objects.operated_by(requester).exclude(pk=exclude).select_related("account", "operator")
    posts = Message.objects.filter(author=OuterRef("pk"))
    return agents.annotate(
        posts=_tally(posts, of="author"),
        hidden=_tally(posts.filter(status=MessageStatus.HIDDEN), of="author"),
        active_tokens=active_token_count(),
        refused=_tally(RefusedCall.objects.filter(agent=OuterRef("pk")), of="agent", by=Sum("calls")),
    ).order_by("-created_at", "-pk")[:SHOWN_MAX]


def active_token_count() -> Coalesce:
    """The number of active tokens of the outer query's agent."""
    return _tally(AgentToken.objects.active().filter(agent=OuterRef("pk")), of="agent")


def other_requests(request: AgentRequest) -> QuerySet[AgentRequest]:
    """The requester's other requests, newest first."""
    requests = AgentRequest.objects.asked_by(request.requester).exclude(pk=request.pk)
    return requests.select_related("requester", "decided_by", "agent", "widens").order_by("-created_at", "-pk")[
        :SHOWN_MAX
    ]


def next_pending(request: AgentRequest, among: QuerySet[AgentRequest] | None = None) -> AgentRequest | None:
    """The pending request after this one, else the oldest one; `among` the rows of a list with filters."""
    rows = AgentRequest.objects.all() if among is None else among
    pending = rows.filter(status=RequestStatus.PENDING).exclude(pk=request.pk).order_by("created_at", "pk")
    later = Q(created_at__gt=request.created_at) | Q(created_at=request.created_at, pk__gt=request.pk)
    return pending.filter(later).first() or pending.first()


def recently_decided(by: Account) -> AgentRequest | None:
    """The latest decision of a super admin, if it can still be undone by the clock of this host."""
    since = timezone.now() - timedelta(seconds=UNDO_SECONDS)
    decided = AgentRequest.objects.filter(decided_at__gte=since, decided_by=by).select_related(
        "requester", "agent", "widens"
    )
    latest = decided.exclude(status=RequestStatus.CANCELLED).order_by(F("decided_at").desc()).first()
    if latest is not None:
        latest.outcome = state_text(latest)  # type: ignore[attr-defined]  # for the template
    return latest


def _tally(rows: QuerySet[Any], *, of: str, by: Aggregate = COUNT) -> Coalesce:
    """An aggregate of `rows` by the column `of`, 0 if no row matches."""
    tallied = rows.order_by().values(of).annotate(tally=by).values("tally")
    return Coalesce(Subquery(tallied, output_field=IntegerField()), 0)


@admin.register(AgentRequest)
class AgentRequestAdmin(DecidingAdmin):
    """Lists the pending requests first, oldest first."""

    row_actions = (APPROVE, REJECT, UNDO)
    decides = ReasonFor.REQUEST
    change_form_template = "admin/agents/request.html"
    change_list_template = "admin/agents/request_list.html"
    list_display = ["handle", "state", "review", "requested_by", "requested", "warned", "decide"]
    list_display_links = ["handle"]
    list_filter = [("status", CountedChoices), "created_at"]
    csv_columns = {
        "handle": lambda row: row.agent_handle,
        "name": lambda row: row.agent_name,
        "purpose": lambda row: row.purpose,
        "website": lambda row: row.website,
        "permissions": lambda row: " ".join(row.scopes),
        "communities": lambda row: " ".join(map(str, row.community_ids)),
        "every community": lambda row: "yes" if row.asks_every_community else "no",
        "of an agent": lambda row: "yes" if row.widens_id else "no",
        "granted permissions": lambda row: row.subject and " ".join(row.subject.scopes),
        "granted communities": lambda row: row.subject and " ".join(map(str, row.subject.community_ids)),
        "requester": lambda row: row.requester.handle,
        "status": lambda row: row.status,
        "requested at": lambda row: row.created_at.isoformat(),
        "decided at": lambda row: row.decided_at and row.decided_at.isoformat(),
        "decided by": lambda row: row.decided_by and row.decided_by.handle,
        "reason": lambda row: row.reason,
    }
    list_select_related = ["requester", "decided_by"]
    search_fields = ["agent_handle", "agent_name", "requester__handle"]
    search_help_text = "Part of the agent's handle or name, or of the requester's handle."
    ordering = [F("decided_at").desc(), "created_at", "pk"]
    fieldsets = [
        (None, {"fields": ["state", "handle", "agent_name", "purpose_as_text", "site", "requested"]}),
        ASKED,
        ("Requester", {"fields": ["requested_by", "name", "account_age"]}),
    ]
    readonly_fields = [
        *("handle", "requested_by", "state", "permissions", "granted", "requested"),
        *("purpose_as_text", "site", "communities", "name", "account_age"),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentRequest]:
        return AgentRequest.objects.with_accounts()

    def queue_summary(self) -> QueueSummary:
        url = reverse("admin:agents_agentrequest_changelist") + f"?status__exact={RequestStatus.PENDING}"
        return QueueSummary.of("agent requests", AgentRequest.objects.pending(), url)

    def title_for(self, row: AgentRequest) -> str:
        return f"@{row.agent_handle}: {'decide' if row.status == RequestStatus.PENDING else state_text(row)}"

    def status_text(self, row: AgentRequest) -> str | SafeString:
        if row.decided_by is None or row.decided_at is None:
            return ""
        return format_html("{} by {} {}", state_text(row), row.decided_by, ago(row.decided_at))

    def get_fieldsets(self, request: HttpRequest, obj: AgentRequest | None = None) -> list[Any]:
        """Without what was asked for while it waits: the boxes of the grant say it."""
        is_pending = obj is not None and obj.status == RequestStatus.PENDING and not obj.widens_id
        return [part for part in self.fieldsets if not (is_pending and part is ASKED)]

    def extra_context(self, request: HttpRequest, row: AgentRequest) -> dict[str, Any]:
        prepare([row])
        return {
            "status_text": self.status_text(row),
            "look_alikes": self._look_alikes(row),
            "warnings": row.warnings,  # type: ignore[attr-defined]  # set by `prepare`
            "grant_form": self._grant_form(request, row) if row.status == RequestStatus.PENDING else None,
            "freeze_url": self._freeze_url(row),
            "agents": agents_of(row.requester, exclude=row.agent_id or row.widens_id),
            "requests": other_requests(row),
            "recent": recently_decided(request.user),  # type: ignore[arg-type]  # a super admin
            "next_waiting": first_found(came_from(self, request), partial(next_pending, row)),
        }

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        more = {
            "communities": offered_communities(),
            "listed_max": LISTED_MAX,
            "recent": recently_decided(request.user),  # type: ignore[arg-type]  # a super admin
        }
        return super().changelist_view(request, more | (extra_context or {}))

    def prepare_rows(self, rows: list[Any]) -> None:
        prepare(rows)

    def review_template(self, row: AgentRequest) -> tuple[str, dict[str, Any]]:
        context = {
            "is_pending": row.status == RequestStatus.PENDING,
            "scopes": row.offered_scopes,  # type: ignore[attr-defined]  # set by `prepare`
            "site": external_link(row.website) if row.website else "",
            "grant": row.grants,  # type: ignore[attr-defined]  # set by `prepare`
        }
        return "admin/agents/request_review.html", context

    def undo_url(self, request: HttpRequest, action: AdminAction, done: dict[Any, datetime | None], reason: str) -> str:
        """The next page offers to undo a single decision by a button."""
        return super().undo_url(request, action, done, reason) if len(done) > 1 else ""

    def state_of(self, row: AgentRequest) -> tuple[str, str]:
        return state_text(row), REQUEST_BADGES.get(RequestStatus(row.status), "")

    def outcome(self, action: AdminAction, row: AgentRequest) -> str:
        decided = AgentRequest.objects.with_accounts().get(pk=row.pk) if action is APPROVE else row
        narrowed = f", {describe_request(decided, _names_of(decided))}" if narrowed_to(decided) else ""
        return super().outcome(action, row) + narrowed

    def instead(self, row: AgentRequest, action: AdminAction) -> tuple[str, str] | None:
        url = self._freeze_url(row)
        return ("Freeze the agent…", url) if url and action is UNDO else None

    def _look_alikes(self, row: Any) -> LookAlikes:
        """Those that `prepare` has found; it looks for none of a request that was decided."""
        if row.status == RequestStatus.PENDING or row.widens_id:
            return cast(LookAlikes, row.look_alikes)
        return look_alikes_of([row])[row.pk]

    def _grant_form(self, request: HttpRequest, row: AgentRequest) -> AdminActionForm:
        return APPROVE.form(row=row, action=APPROVE, initial=choices_of(request, APPROVE))

    def _freeze_url(self, row: AgentRequest) -> str:
        agent = row.subject
        return reverse("admin:agents_agent_freeze", args=[agent.pk]) if agent else ""

    def next_url(self, request: HttpRequest, action: AdminAction, row: AgentRequest) -> str:
        if action is UNDO:
            return change_url(row)
        following = next_pending(row, came_from(self, request))
        return change_url(following) if following else reverse("admin:agents_agentrequest_changelist")

    @admin.display(description="handle", ordering="agent_handle")
    def handle(self, row: AgentRequest) -> str:
        return f"@{row.agent_handle}"

    @admin.display(description="requester", ordering="requester__handle")
    def requested_by(self, row: AgentRequest) -> str | SafeString:
        return link(row.requester)

    @admin.display(description="account age")
    def account_age(self, row: AgentRequest) -> str | SafeString:
        return age(row.requester.created_at)

    @admin.display(description="name")
    def name(self, row: AgentRequest) -> str:
        return row.requester.name

    @admin.display(description="state", ordering="status")
    def state(self, row: AgentRequest) -> SafeString:
        return request_badge(row)

    @admin.display(description="permissions")
    def permissions(self, row: AgentRequest) -> str:
        return describe_scopes(row.scopes)

    @admin.display(description="communities")
    def communities(self, row: AgentRequest) -> str | SafeString:
        if row.widens_id and not row.community_ids:
            return "every community" if row.every_community else "no more"
        return describe_communities(row.community_ids)

    @admin.display(description="granted")
    def granted(self, row: AgentRequest) -> str:
        if row.subject is None:
            return NOTHING
        if row.widens_id is not None:
            return describe_request(row, _names_of(row))
        return describe_request(row, _names_of(row)) if narrowed_to(row) else "as requested"

    @admin.display(description="age", ordering="created_at")
    def requested(self, row: AgentRequest) -> str | SafeString:
        return age(row.created_at)

    @admin.display(description="warnings")
    def warned(self, row: Any) -> str | SafeString:
        return lines([badge(text, kind) for text, kind in row.warnings]) if row.warnings else NOTHING

    @admin.display(description="purpose")
    def purpose_as_text(self, row: AgentRequest) -> str | SafeString:
        return plain(row.purpose)

    @admin.display(description="website")
    def site(self, row: AgentRequest) -> str | SafeString:
        return external_link(row.website)


def _names_of(row: AgentRequest) -> dict[UUID, str]:
    return community_names(set(_communities_of(row)))
