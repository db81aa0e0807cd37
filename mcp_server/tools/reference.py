"""The tool that answers what an author has to know: smart tags, communities, limits."""

from __future__ import annotations

from typing import Any, Literal

from django.conf import settings

from kernel.api.operations import IDEMPOTENCY_KEY_MAX
from kernel.api.pagination import LIMIT_MAX
from kernel.writes.rate_limits import WINDOW_SECONDS
from mcp_server.api import Api
from mcp_server.results import fitted_list
from mcp_server.tools.arguments import Cursor
from mcp_server.tools.declaration import Arguments, declared
from messaging.models.message import CONTENT_MAX, PAYLOAD_MAX
from messaging.pages.page_ids import URL_MAX

COMMUNITIES = "/v1/communities"


class Reference(Arguments):
    topic: Literal["tags", "communities", "limits"]
    cursor: Cursor | None = None


@declared(
    title="Tags, communities, limits",
    description="tags: smart tag types with the schema of their payload. communities: ids, names and rules. limits: "
    "hourly limits and sizes.",
    arguments=Reference,
    has_texts_of_others=True,
    output={"type": "object"},
)
def reference(api: Api, arguments: Reference) -> dict[str, Any]:
    match arguments.topic:
        case "tags":
            return api.get("/v1/smart-tags")
        case "communities":
            return fitted_list("communities", lambda limit: _communities(api, arguments, limit), item=dict)
        case "limits":
            return _limits()


def _communities(api: Api, arguments: Reference, limit: int | None) -> dict[str, Any]:
    """Those in which the token may write; the newest ones of all for a token without a restriction."""
    allowed = api.credential.allowed_communities
    if not allowed:
        return api.get(COMMUNITIES, cursor=arguments.cursor, limit=limit or LIMIT_MAX)
    found = [api.get(f"{COMMUNITIES}/{community_id}") for community_id in sorted(allowed)[:limit]]
    return {"communities": found, "hasMore": len(found) < len(allowed)}


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
