"""What the pages of agents show. Each function is a fixed number of queries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.contrib.admin.models import LogEntry
from django.db.models import Count, F, Max, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Now, TruncDate
from django.utils import timezone

from agents.exceptions import AgentNotFound, RequestNotFound, TokenNotFound
from agents.models import Agent, AgentRequest, AgentToken, RefusedCall, RequestStatus
from kernel.admin.audit import log_entries_about
from kernel.plots import days_until
from messaging.models import Account, Message
from messaging.posts.partitioning.tables import first_id

AGENTS_SHOWN = 50
REQUESTS_SHOWN = 20
TOKENS_SHOWN = 50
POSTS_SHOWN = 5
DECISIONS_SHOWN = 10
DAYS = 30
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class AgentList:
    """The newest agents before an id, and the id to go on with."""

    agents: Sequence[Agent]
    next_before: UUID | None


def agents_of(operator: Account, *, before: UUID | None = None) -> AgentList:
    """With `active_tokens` and `used_at`. Ids are in the order of their creation."""
    own = Agent.objects.live().operated_by(operator).select_related("account", "operator")
    if before is not None:
        own = own.filter(pk__lt=before)
    tokens = AgentToken.objects.filter(agent=OuterRef("pk")).order_by().values("agent")
    rows = list(
        own.annotate(
            active_tokens=Coalesce(Subquery(_active(tokens).annotate(number=Count("pk")).values("number")), 0),
            used_at=Subquery(tokens.annotate(at=Max("last_used_at")).values("at")),
        ).order_by("-pk")[: AGENTS_SHOWN + 1]
    )
    more = len(rows) > AGENTS_SHOWN
    return AgentList(rows[:AGENTS_SHOWN], rows[AGENTS_SHOWN - 1].pk if more else None)


def open_requests(requester: Account) -> list[AgentRequest]:
    """Those that are no agents: pending ones first, then the latest decisions."""
    own = AgentRequest.objects.asked_by(requester).exclude(status=RequestStatus.APPROVED)
    return list(own.order_by(F("decided_at").desc(nulls_first=True), "-created_at")[:REQUESTS_SHOWN])


def own_request(requester: Account, request_id: UUID) -> AgentRequest:
    """Raises RequestNotFound (404)."""
    found = AgentRequest.objects.with_accounts().asked_by(requester).filter(pk=request_id).first()
    if found is None:
        raise RequestNotFound
    return found


def own_agent(operator: Account, handle: str) -> Agent:
    """An agent that is not deleted, with its accounts and request; raises AgentNotFound (404)."""
    own = Agent.objects.live().operated_by(operator).select_related("account", "operator", "request__decided_by")
    found = own.filter(account__handle=handle).first()
    if found is None:
        raise AgentNotFound
    return found


def tokens_of(agent: Agent) -> list[AgentToken]:
    """Those that work first, then the newest."""
    rows = list(agent.tokens.active_first().defer("digest")[:TOKENS_SHOWN])
    for row in rows:
        # The status of a token reads the accounts of its agent.
        row.agent = agent
    return rows


def own_token(agent: Agent, token_id: UUID) -> AgentToken:
    """Raises TokenNotFound (404)."""
    token = agent.tokens.defer("digest").filter(pk=token_id).first()
    if token is None:
        raise TokenNotFound
    token.agent = agent
    return token


def active_tokens(agent: Agent) -> int:
    """How many tokens it has of the five that a person may create."""
    return _active(agent.tokens.created_by_people()).count()


def decisions_about(agent: Agent, names: Mapping[UUID, str]) -> list[tuple[LogEntry, str]]:
    """(entry, its text with the names of communities in the place of their ids)."""
    by_id = {str(pk): name for pk, name in names.items()}
    entries = log_entries_about([agent], latest=DECISIONS_SHOWN)
    return [(entry, ID.sub(lambda found: by_id.get(found[0], found[0]), entry.change_message)) for entry in entries]


def latest_posts(agent: Agent) -> list[Message]:
    posts = Message.objects.filter(author=agent.pk).select_related("page", "community")
    # Ids are in the order of time, also those of imported posts, and have an index with the author.
    return list(posts.order_by("-pk")[:POSTS_SHOWN])


def last_days() -> list[date]:
    """The days of the plots, in UTC."""
    return days_until(timezone.now().date(), DAYS)


def posts_by_day(agent: Agent) -> Mapping[date, int]:
    first = last_days()[0]
    # An id has the time of a host, whose clock may be behind.
    ids_since = first_id(datetime.combine(first, time(), UTC) - timedelta(days=1))
    posts = Message.objects.filter(author=agent.pk, pk__gte=ids_since, created_at__date__gte=first)
    return dict(posts.annotate(day=TruncDate("created_at")).values_list("day").annotate(Count("pk")).order_by())


def refusals(agent: Agent) -> tuple[Mapping[date, int], list[tuple[str, int]]]:
    """(refused calls by day, the most frequent codes)."""
    of_days = RefusedCall.objects.filter(agent=agent.pk, day__gte=last_days()[0])
    days: Counter[date] = Counter()
    codes: Counter[str] = Counter()
    for day, code, calls in of_days.values_list("day", "code").annotate(Sum("calls")):
        days[day] += calls
        codes[code] += calls
    return days, codes.most_common(5)


def _active(tokens: QuerySet[AgentToken, Any]) -> QuerySet[AgentToken, Any]:
    return tokens.filter(revoked_at=None, expires_at__gt=Now())
