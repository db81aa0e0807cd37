"""Handles that are confusable with that of a request: the nearest, the others, and a numbered series as one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Model

from agents.models import AgentRequest
from kernel.admin.formatting import link
from kernel.database.sql import fetch_all
from messaging.accounts.confusables import Likeness, near, skeleton
from messaging.models import Account

NEAREST = 3
FOUND_MAX = 2_000
ORDER = list(Likeness)
# One statement for all rows of a list, also if it finds none. Where it finds too many, those that read the same are
# first, and those with added words last.
FIND = """
SELECT claim.handle, claim.skeleton, account.id, account.kind, account.name, agent.operator_id,
    request.id, request.requester_id
FROM messaging_handleclaim claim
LEFT JOIN messaging_account account ON account.handle = claim.handle
LEFT JOIN agents_agent agent ON agent.account_id = account.id
LEFT JOIN agents_agentrequest request ON request.agent_handle = claim.handle AND request.status = 'pending'
WHERE claim.skeleton = ANY(%s)
ORDER BY claim.skeleton = ANY(%s) DESC, claim.skeleton = ANY(%s) ASC, claim.handle LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class LookAlike:
    """A claimed handle, and the account or the pending request that has it."""

    handle: str
    likeness: Likeness
    account: Account | None
    request: AgentRequest | None
    # Who operates or asks for the agent; the person itself.
    person_id: UUID | None

    @property
    def used_by(self) -> str:
        if self.account is not None:
            return f"{self.account.get_kind_display()} {self.account.name}"
        return "another pending request" if self.request is not None else "reserved"

    @property
    def row_link(self) -> str:
        row: Model | None = self.account or self.request
        return self.used_by if row is None else link(row, self.used_by)


@dataclass(slots=True)
class LookAlikes:
    """`series`: handles with the same name and another number, such as bot1 and bot2; `is_own`: all of one person."""

    nearest: list[LookAlike] = field(default_factory=list)
    rest: list[LookAlike] = field(default_factory=list)
    series: list[LookAlike] = field(default_factory=list)
    is_own: bool = False
    # More were found, of all requests together, than are read: some may be missing here.
    is_cut: bool = False

    @property
    def series_text(self) -> str:
        """`@bot1, @bot2 … @bot9 (9 handles)`."""
        names = [f"@{one.handle}" for one in self.series]
        shown = names if len(names) <= NEAREST else [*names[: NEAREST - 1], "…", names[-1]]
        return f"{', '.join(shown).replace(', …,', ' …')} ({len(names)} handle{'s'[: len(names) != 1]})"


def look_alikes_of(requests: Collection[AgentRequest]) -> dict[UUID, LookAlikes]:
    """For each request, by its id; one query."""
    shapes = {request.pk: near(skeleton(request.agent_handle)) for request in requests}
    found = fetch_all(FIND, [*_ranked(shapes.values()), FOUND_MAX + 1])
    is_cut = len(found) > FOUND_MAX
    by_shape: dict[str, list[tuple[Any, ...]]] = {}
    for row in found[:FOUND_MAX]:
        by_shape.setdefault(str(row[1]), []).append(row)
    arranged = {request.pk: _arranged(request, _of(request, shapes[request.pk], by_shape)) for request in requests}
    for each in arranged.values():
        each.is_cut = is_cut
    return arranged


def _ranked(shapes: Iterable[dict[str, Likeness]]) -> list[list[str]]:
    """All skeletons; those that read the same as a handle; those that only have words added."""
    best: dict[str, int] = {}
    for each in shapes:
        for shape, likeness in each.items():
            best[shape] = min(ORDER.index(likeness), best.get(shape, len(ORDER)))
    ranks = (Likeness.SAME, Likeness.DRESSED)
    chosen = [sorted(shape for shape, rank in best.items() if ORDER[rank] == likeness) for likeness in ranks]
    return [sorted(best), *chosen]


def series_base(handle: str) -> str:
    """The handle without its number: `bot` of `bot_12`; empty without a number."""
    base = handle.rstrip("0123456789")
    return base.rstrip("_") if base != handle else ""


def _of(
    request: AgentRequest, likenesses: dict[str, Likeness], by_shape: dict[str, list[tuple[Any, ...]]]
) -> Iterable[LookAlike]:
    # The fewer of both: a request has about 1,500 shapes, and a list finds few handles.
    for shape in by_shape.keys() & likenesses.keys():
        for row in by_shape[shape]:
            if row[0] != request.agent_handle:
                yield _look_alike(row, likenesses[shape])


def _look_alike(row: tuple[Any, ...], likeness: Likeness) -> LookAlike:
    handle, _shape, account_id, kind, name, operator_id, request_id, requester_id = row
    account = Account(id=account_id, kind=kind, name=name, handle=handle) if account_id else None
    request = AgentRequest(id=request_id, agent_handle=handle) if request_id else None
    person = operator_id or requester_id or account_id
    return LookAlike(str(handle), likeness, account, request, person)


def _arranged(request: AgentRequest, found: Iterable[LookAlike]) -> LookAlikes:
    ordered = sorted(found, key=lambda one: (ORDER.index(one.likeness), one.account is None, one.handle))
    base = series_base(request.agent_handle)
    series = [one for one in ordered if base and series_base(one.handle) == base]
    others = [one for one in ordered if one not in series]
    is_own = all(one.person_id == request.requester_id for one in series)
    series.sort(key=lambda one: (len(one.handle), one.handle))
    return LookAlikes(others[:NEAREST], others[NEAREST:], series, is_own)
