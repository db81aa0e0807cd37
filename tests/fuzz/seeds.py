"""Valid requests, from which hostile ones are mutated."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.clients import PASSWORD
from tests.fuzz.scenario import PAGE_URL, SIGN_OUT, Scenario
from tests.fuzz.vocabulary import MADE_UP_ID

Ids = dict[str, list[str]]
COMMON = (("Host", "localhost"), ("Content-Type", "application/json"))


@dataclass(frozen=True, slots=True)
class Input:
    """One request. Header values are sent as UTF-8."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None

    def wire(self) -> bytes:
        target = self.path + (f"?{self.query}" if self.query else "")
        lines = [f"{self.method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in self.headers)]
        if self.body is not None:
            lines.append(f"Content-Length: {len(self.body)}")
        return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogatepass") + (self.body or b"")


def seeds(scenario: Scenario) -> list[Input]:
    """A valid request of every operation by every caller, and of every page."""
    requests = [
        Input(
            method.upper(),
            _filled(path, operation, scenario),
            _query(operation, scenario),
            COMMON + tuple(headers.items()),
            _body(operation, scenario),
        )
        for path, methods in scenario.remote.call("GET", "/api/schema/?format=json").json["paths"].items()
        for method, operation in methods.items()
        for headers in _callers(operation, scenario)
    ]
    return requests + [Input("GET", path, "", COMMON[:1], None) for path in PAGES]


PAGES = (
    "/",
    "/demo/",
    "/embed/v1.js",
    "/embed/panel",
    "/embed/sign-in",
    "/api/docs/",
    "/api/redoc/",
    "/admin/login/",
    "/api/schema/",
    "/static/embed/v1.js",
    "/static/x",
    "/favicon.ico",
    "/nowhere",
    "/admin/",
    "/admin/messaging/",
)


def dump(value: Any) -> bytes:
    return json.dumps(value).encode()


def _callers(operation: dict[str, Any], scenario: Scenario) -> Iterable[dict[str, str]]:
    return [scenario.leaver] if operation["operationId"] == SIGN_OUT else scenario.callers.values()


def _filled(path: str, operation: dict[str, Any], scenario: Scenario) -> str:
    known = scenario.ids.get(operation["operationId"], [MADE_UP_ID])[0]
    for name, value in (("id", known), ("serviceId", known), ("accountId", MADE_UP_ID), ("embedId", MADE_UP_ID)):
        path = path.replace(f"{{{name}}}", value)
    return path


def _query(operation: dict[str, Any], scenario: Scenario) -> str:
    return f"pageId={scenario.ids['pageId'][0]}" if operation["operationId"] == "listMessages" else ""


def _body(operation: dict[str, Any], scenario: Scenario) -> bytes | None:
    build = BODIES.get(operation["operationId"])
    return dump(build(scenario.ids)) if build else None


def _message(ids: Ids) -> dict[str, Any]:
    return {
        "pageId": ids["pageId"][0],
        "content": "Hello",
        "parentId": ids["parentId"][0],
        "quoteId": None,
        "tagType": "claim",
        "payload": {"statement": "So it is.", "rationale": "It was."},
        "anchorText": "here",
        "contextAnchor": {"start": 1},
        "attachments": [{"type": "image", "url": "https://example.com/a.png"}],
        "language": "en",
        "sourceApp": "generated",
    }


def _embed(ids: Ids) -> dict[str, Any]:
    return {
        "name": "Generated",
        "communityId": ids["communityId"][0],
        "description": "",
        "status": "active",
        "domainWhitelist": ["example.com"],
        "blockedWords": ["forbidden*"],
        "pageRules": {"type": "patterns", "patterns": ["/blog/*"]},
        "triggerConfig": {"type": "corner-tab", "position": "bottom-right", "message": "Talk", "color": "#123456"},
    }


def _request(ids: Ids) -> dict[str, Any]:
    return {
        "agentName": "Generated",
        "agentHandle": "generated",
        "purpose": "Takes part in a test of this service.",
        "website": "https://example.com",
        "scopes": ["post"],
        "communityIds": ids["communityId"],
    }


BODIES: dict[str, Callable[[Ids], dict[str, Any]]] = {
    "createMessage": _message,
    "editMessage": lambda _ids: {"content": "Edited", "anchorText": "here", "language": "en"},
    "reportMessage": lambda _ids: {"reason": "spam", "note": "Again"},
    "addReaction": lambda ids: {"messageId": ids["messageId"][0], "emoji": "👍", "toggle": True},
    "normalizeUrl": lambda _ids: {"url": PAGE_URL},
    "ingestAnalyticsEvent": lambda ids: {
        "serviceId": ids["serviceId"][0],
        "event": "trigger_click",
        "pageUrl": PAGE_URL,
    },
    "requestAgent": _request,
    "approveAgentRequest": lambda ids: {"scopes": ["post"], "communityIds": ids["communityId"], "reason": "Fine"},
    "rejectAgentRequest": lambda _ids: {"reason": "No"},
    "createAgentToken": lambda _ids: {"label": "generated", "expiresInDays": 30},
    "rotateAgentToken": lambda _ids: {"oldEndsIn": "hour", "expiresInDays": 30},
    "revokeAgentToken": lambda _ids: {"reason": "Lost"},
    "createEmbedInstance": _embed,
    "updateEmbedInstance": _embed,
    "putEmbedBlacklist": lambda _ids: {"domains": ["example.org"]},
    "exchangeSiteToken": lambda ids: {"embedId": ids["serviceId"][0], "token": "eyJhbGciOiJIUzI1NiJ9.e30.x"},
    "getSiteTokenCheck": lambda _ids: {"token": "eyJhbGciOiJIUzI1NiJ9.e30.x"},
    "createCommunity": lambda _ids: {"name": "Generated", "slug": "generated-2"},
    "approveMessage": lambda _ids: {"reason": "Fine"},
    "hideMessage": lambda _ids: {"reason": "No"},
    "restoreMessage": lambda _ids: {"reason": "Fine"},
    "pinMessage": lambda _ids: {"reason": "Rules"},
    "closeDiscussion": lambda ids: {"pageId": ids["pageId"][0], "reason": "Done"},
    "updateCommunity": lambda _ids: {"blockedWords": ["forbidden*"], "rules": {"reportsToHide": 3}},
    "addModerator": lambda _ids: {"handle": "generated"},
    "endCommunityEmbed": lambda _ids: {"reason": "No"},
    "banAccount": lambda _ids: {"accountId": MADE_UP_ID, "reason": "No"},
    "addHost": lambda _ids: {"host": "blog.example"},
    "register": lambda _ids: {"handle": "generated", "name": "Generated", "password": PASSWORD},
    "login": lambda _ids: {"handle": "generated", "password": PASSWORD},
    "refreshSession": lambda _ids: {"refreshToken": "eyJhbGciOiJIUzI1NiJ9.e30.x"},
    "logout": lambda _ids: {"refreshToken": "eyJhbGciOiJIUzI1NiJ9.e30.x"},
}
