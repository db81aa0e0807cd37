"""Every page under `/account/`, with the objects of one person in its address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.urls import URLPattern, get_resolver

from messaging.models import Account
from messaging.services.communities import create_community
from messaging.services.webhooks import create_webhook
from tests.agents.factories import RequestFactory, agent_with_token
from tests.embeds.making import an_embed

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


class Page(NamedTuple):
    """`route` is the pattern. `has_object`: whether the address names something that belongs to a person."""

    route: str
    path: str
    has_object: bool


def objects_of(person: Account) -> dict[str, Any]:
    """The value of each parameter of the addresses."""
    holder = agent_with_token(requester=person)
    community = create_community(owner=person, name=f"Community of {person.handle}")
    return {
        "embed": an_embed(person, community_id=community.pk).pk,
        "slug": community.slug,
        "handle": holder.account.handle,
        "request_id": RequestFactory(requester=person).pk,
        "token_id": holder.token.pk,
        "webhook_id": create_webhook(owner=person, url="https://hooks.example.com/", agent_id=holder.agent.pk)[0].pk,
    }


def pages(objects: dict[str, Any]) -> Iterator[Page]:
    (area,) = (entry for entry in get_resolver().url_patterns if str(entry.pattern) == "account/")
    for route in _routes(area.url_patterns, "account/"):
        path = PARAMETER.sub(lambda found: str(objects[found[1]]), route)
        yield Page(route, f"/{path}", PARAMETER.search(route) is not None)


def _routes(patterns: Any, prefix: str) -> Iterator[str]:
    for entry in patterns:
        if isinstance(entry, URLPattern):
            yield prefix + str(entry.pattern)
        else:
            yield from _routes(entry.url_patterns, prefix + str(entry.pattern))
