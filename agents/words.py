"""Grants in words, in the language of the reader. The admin has its own words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.models import AgentRequest, Scope
from agents.services.requests import Grant, community_names, narrowed_to

SCOPES = {
    Scope.POST: gettext_lazy("Write posts"),
    Scope.REPLY: gettext_lazy("Reply"),
    Scope.QUOTE: gettext_lazy("Quote"),
    Scope.REACT: gettext_lazy("React"),
}


def asked_and_granted(requests: Iterable[AgentRequest]) -> dict[UUID, list[tuple[str, str]]]:
    """(label, grant) by request, of those whose agent may do less than was asked for. One query."""
    narrowed = [(request, granted) for request in requests if (granted := narrowed_to(request)) is not None]
    names = community_names({pk for request, granted in narrowed for pk in (*request.community_ids, *granted[1])})
    return {
        request.pk: [
            (_("Asked for"), _described((request.scopes, request.community_ids), names)),
            (_("Granted"), _described(granted, names)),
        ]
        for request, granted in narrowed
    }


def _described(grant: Grant, names: Mapping[UUID, str]) -> str:
    """`Write posts, Reply (Harbour, Gazette)`."""
    communities = [names[pk] for pk in names if pk in grant[1]] if grant[1] else [_("all communities")]
    return f"{', '.join(str(SCOPES[Scope(scope)]) for scope in grant[0])} ({', '.join(communities)})"
