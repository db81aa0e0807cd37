"""Every page under `/account/`, with the objects of one person in its address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.urls import URLPattern, get_resolver

from messaging.communities.services import create_community
from messaging.models import Account, WebhookTarget
from messaging.webhooks.services import create_webhook
from moving.models import Move, MovePart, MoveStatus
from tests.agents.factories import RequestFactory, agent_with_token
from tests.embeds.making import an_embed
from tests.factories import MessageFactory
from tests.oauth.consents import program_let_in

PARAMETER = re.compile(r"<(\w+):(\w+)>")
# The values by converter of sessions, passkeys and links of mails, which a browser or a mail makes.
UNKNOWN = {"int": 1, "str": "unknown", "slug": "unknown", "uuid": "01890a5d-ac96-774b-bcce-b302099a8057"}


class Page(NamedTuple):
    """`route` is the pattern. `has_object`: whether the address names something that belongs to a person."""

    route: str
    path: str
    has_object: bool


def objects_of(person: Account) -> dict[str, Any]:
    """The value of each parameter of the addresses."""
    holder = agent_with_token(requester=person)
    webhook, _secret = create_webhook(
        owner=person, target_kind=WebhookTarget.AGENT, target_id=holder.agent.pk, url="https://hooks.example.com/"
    )
    community = create_community(owner=person, name=f"Community of {person.handle}")
    move = Move.objects.create(
        community=community, started_by=person, format="disqus", digest="0" * 64, size=0, status=MoveStatus.DONE
    )
    MovePart.objects.create(move=move, kind=MovePart.Kind.REPORT, number=0, data=b"")
    return {
        "embed": an_embed(person, community_id=community.pk).pk,
        "slug": community.slug,
        "handle": holder.account.handle,
        "request_id": RequestFactory(requester=person).pk,
        "token_id": holder.token.pk,
        "program_id": program_let_in(holder.agent)[0].pk,
        "webhook_id": webhook.pk,
        "move_id": move.pk,
        "post_id": MessageFactory(community=community).pk,
    }


def pages(objects: dict[str, Any]) -> Iterator[Page]:
    area: Any
    (area,) = (entry for entry in get_resolver().url_patterns if str(entry.pattern) == "account/")
    for route in _routes(area.url_patterns, "account/"):
        path = PARAMETER.sub(lambda found: str(objects.get(found[2], UNKNOWN.get(found[1]))), route)
        yield Page(route, f"/{path}", any(name in objects for _, name in PARAMETER.findall(route)))


def _routes(patterns: Any, prefix: str) -> Iterator[str]:
    for entry in patterns:
        if isinstance(entry, URLPattern):
            yield prefix + str(entry.pattern)
        else:
            yield from _routes(entry.url_patterns, prefix + str(entry.pattern))
