"""What a grant may become: less of the same, never more and never something else."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from config.api.exceptions import InvalidInput
from messaging.models import Community


def narrowed_scopes(wanted: Sequence[str] | None, *, held: Sequence[str]) -> list[str]:
    """`wanted` if it is some of `held`, `held` where nothing is wanted; raises InvalidInput (400)."""
    if wanted is None:
        return list(held)
    if not wanted or not set(wanted) <= set(held):
        raise _refusal("scopes", f"May only narrow: one or more of {', '.join(held)}.")
    return list(dict.fromkeys(wanted))


def narrowed_communities(wanted: Sequence[UUID] | None, *, held: Sequence[UUID]) -> list[UUID]:
    """The same for communities, where an empty `held` means all and can be narrowed to any known ones."""
    if wanted is None:
        return list(held)
    if not held:
        return known_communities(wanted)
    if not wanted or not set(wanted) <= set(held):
        raise _refusal("communityIds", "May only narrow: one or more of the communities asked for.")
    return list(dict.fromkeys(wanted))


def known_communities(ids: Sequence[UUID]) -> list[UUID]:
    """`ids` without repeats; raises InvalidInput (400) where one is no community."""
    unknown = set(ids) - set(Community.objects.filter(pk__in=ids).values_list("pk", flat=True))
    if unknown:
        raise _refusal("communityIds", f"Unknown: {', '.join(sorted(map(str, unknown)))}")
    return list(dict.fromkeys(ids))


def _refusal(field: str, why: str) -> InvalidInput:
    return InvalidInput(field=field, details={field: [why]})
