"""Narrows the scopes and communities of a grant; nothing can be added to a grant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from agents.models import AgentRequest
from agents.models.agent import COMMUNITIES_MAX
from kernel.api.exceptions import InvalidInput
from messaging.models import Community
from messaging.posts.editing import describe_changes

# (scopes, communities): no community means all of them.
Grant = tuple[Sequence[str], Sequence[UUID]]


def narrowed_scopes(requested: Sequence[str] | None, *, current: Sequence[str]) -> list[str]:
    """`requested` without duplicates, `current` for None; raises InvalidInput (400) unless it is a non-empty subset."""
    if requested is None:
        return list(current)
    if not requested or not set(requested) <= set(current):
        raise InvalidInput(
            f"Send as scopes one or more of: {', '.join(current)}.", field="scopes", allowed=list(current)
        )
    return list(dict.fromkeys(requested))


def narrowed_communities(requested: Sequence[UUID] | None, *, current: Sequence[UUID]) -> list[UUID]:
    """The same for communities, where an empty `current` means every community."""
    if requested is None:
        return list(current)
    if not current:
        return known_communities(requested)
    if not requested or not set(requested) <= set(current):
        allowed = sorted(map(str, current))
        raise InvalidInput("Send as communityIds one or more of `allowed`.", field="communityIds", allowed=allowed)
    return list(dict.fromkeys(requested))


def narrowed_to(request: AgentRequest) -> Grant | None:
    """What the agent of a request may do, if that is less than was asked for; the request has its agent."""
    agent = request.agent
    if agent is None or (set(agent.scopes), set(agent.community_ids)) == (
        set(request.scopes),
        set(request.community_ids),
    ):
        return None
    return agent.scopes, agent.community_ids


def community_names(ids: Collection[UUID]) -> dict[UUID, str]:
    """By id, in the order of the names."""
    return dict(Community.objects.filter(pk__in=ids).order_by("name", "pk").values_list("pk", "name"))


def grant_changes(before: Grant, after: Grant) -> str:
    """`scopes (−react), communities (all → Harbour)`, for the history; empty if the grants are equal."""
    communities = _changed_communities(before[1], after[1])
    scopes = describe_changes({"scopes": before[0]}, {"scopes": after[0]}) if set(before[0]) != set(after[0]) else ""
    return ", ".join(filter(None, [scopes, communities]))


def _changed_communities(before: Sequence[UUID], after: Sequence[UUID]) -> str:
    if set(before) == set(after):
        return ""
    names = community_names({*before, *after})
    was, now = ([names.get(pk, str(pk)) for pk in ids] for ids in (before, after))
    return describe_changes({"communities": was or "all"}, {"communities": now})


def known_communities(ids: Sequence[UUID]) -> list[UUID]:
    """`ids` without duplicates; raises InvalidInput (400) for an id that is not a community's, and for too many."""
    if len(set(ids)) > COMMUNITIES_MAX:
        raise InvalidInput(f"Send at most {COMMUNITIES_MAX} communities, or none for all.", field="communityIds")
    unknown = set(ids) - set(Community.objects.filter(pk__in=ids).values_list("pk", flat=True))
    if unknown:
        listed = ", ".join(sorted(map(str, unknown)))
        raise InvalidInput(f"Send ids of existing communities; unknown: {listed}", field="communityIds")
    return list(dict.fromkeys(ids))
