"""Grants in words, in the language of the reader. The admin has its own words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.models import AgentRequest, Scope
from agents.services.requests import Grant, asked_grant, community_names, former_grant, narrowed_to

SCOPES = {
    Scope.POST: gettext_lazy("Write posts"),
    Scope.REPLY: gettext_lazy("Reply"),
    Scope.QUOTE: gettext_lazy("Quote"),
    Scope.REACT: gettext_lazy("React"),
}


def asked_and_granted(requests: Iterable[AgentRequest]) -> dict[UUID, list[tuple[str, str]]]:
    """(label, grant) by request, of those whose agent may do less than was asked for. One query.

    A widening asks for the whole grant that its agent would have.
    """
    narrowed = [(request, granted) for request in requests if (granted := narrowed_to(request)) is not None]
    names = community_names({pk for request, granted in narrowed for pk in (*asked_grant(request)[1], *granted[1])})
    return {
        request.pk: [
            (_("Asked for"), _described(asked_grant(request), names)),
            (_("Granted"), _described(granted, names)),
        ]
        for request, granted in narrowed
    }


def added_by(requests: Collection[AgentRequest]) -> dict[UUID, tuple[list[str], list[str]]]:
    """The rights and communities, in words, that each widening asks for beside what its agent has. One query."""
    grants = {request.pk: (former_grant(request), asked_grant(request)) for request in requests}
    names = community_names({pk for former, asked in grants.values() for pk in asked[1] if pk not in former[1]})
    return {pk: _added(former, asked, names) for pk, (former, asked) in grants.items()}


def _added(former: Grant, asked: Grant, names: Mapping[UUID, str]) -> tuple[list[str], list[str]]:
    (scopes, communities), (asked_scopes, asked_communities) = former, asked
    more = [names[pk] for pk in names if pk in asked_communities and pk not in communities]
    return (
        [str(SCOPES[Scope(scope)]) for scope in asked_scopes if scope not in scopes],
        more or ([_("all communities")] if communities and not asked_communities else []),
    )


def _described(grant: Grant, names: Mapping[UUID, str]) -> str:
    """`Write posts, Reply (Harbour, Gazette)`."""
    communities = [names[pk] for pk in names if pk in grant[1]] if grant[1] else [_("all communities")]
    return f"{', '.join(str(SCOPES[Scope(scope)]) for scope in grant[0])} ({', '.join(communities)})"
