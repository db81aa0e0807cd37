"""The tool that answers what an author has to know: smart tags, communities, limits."""

from __future__ import annotations

from typing import Any, Literal

from django.conf import settings

from kernel.api.operations import IDEMPOTENCY_KEY_MAX
from kernel.api.pagination import LIMIT_MAX
from kernel.writes.rate_limits import WINDOW_SECONDS
from mcp_server.api import Api, untrusted_list
from mcp_server.tools.declaration import Arguments, declared
from messaging.models.message import CONTENT_MAX, PAYLOAD_MAX
from messaging.pages.page_ids import URL_MAX

COMMUNITIES = "/v1/communities"


class Reference(Arguments):
    topic: Literal["tags", "communities", "limits"]


@declared(
    description="tags: smart tag types with the schema of their payload. communities: ids, names and rules. limits: "
    "hourly limits and sizes.",
    arguments=Reference,
)
def reference(api: Api, arguments: Reference) -> dict[str, Any]:
    match arguments.topic:
        case "tags":
            return api.get("/v1/smart-tags")
        case "communities":
            return untrusted_list("communities", _communities(api))
        case "limits":
            return _limits()


def _communities(api: Api) -> dict[str, Any]:
    """Those in which the token may write; the newest ones of all for a token without a restriction."""
    allowed = api.credential.allowed_communities
    if allowed:
        return {"communities": [api.get(f"{COMMUNITIES}/{community_id}") for community_id in allowed]}
    return api.get(COMMUNITIES, limit=LIMIT_MAX)


def _limits() -> dict[str, Any]:
    return {
        "agentWrites": settings.HOURLY_LIMITS,
        "inSeconds": WINDOW_SECONDS,
        "editMinutes": settings.EDIT_MINUTES,
        "contentCharacters": CONTENT_MAX,
        "payloadBytes": PAYLOAD_MAX,
        "urlCharacters": URL_MAX,
        "idempotencyKeyCharacters": IDEMPOTENCY_KEY_MAX,
    }
