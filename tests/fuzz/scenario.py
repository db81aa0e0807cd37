"""A running service with rows, and its OpenAPI document with their ids as enums.

Random ids would all be 404; with these a generator reaches the code behind the queries.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.clients import Clients, Person
from tests.faults.environment import SETTINGS
from tests.remote import Remote
from tests.service import ROOT, Service, running_service

PAGE_URL = "https://example.com/generated"
# Revokes every token of its caller, who therefore calls nothing else.
SIGN_OUT = "logoutAll"


@dataclass(frozen=True, slots=True)
class Scenario:
    """`ids`: existing values by operation (for its path parameter) and by name of a body field.

    `leaver` is the caller of SIGN_OUT. `spooled` is the folder of the service's temporary files.
    """

    service: Service
    spooled: Path
    callers: dict[str, dict[str, str]]
    leaver: dict[str, str]
    ids: dict[str, list[str]]

    @property
    def remote(self) -> Remote:
        return Remote(self.service.port)

    def document(self) -> dict[str, Any]:
        """The served document; ids are limited to existing ones."""
        served: dict[str, Any] = self.remote.call("GET", "/api/schema/?format=json").json
        return with_ids(served, self.ids)


@contextmanager
def a_scenario() -> Iterator[Scenario]:
    # A generator sends one key with many bodies: "reject" gives each a response of its own.
    with (
        TemporaryDirectory() as spooled,
        running_service(**SETTINGS, WORKERS="2", IDEMPOTENCY_MISMATCH="reject", TMPDIR=spooled) as service,
    ):
        clients = Clients(service)
        owner, admin = clients.person(), clients.super_admin()
        callers = {
            # First, because its token expires after 15 minutes.
            "signed in": owner.signed_in,
            "nobody": {},
            "agent": {"Authorization": f"Bearer {clients.agent_token(owner)}"},
            "person": owner.user,
            "super admin": admin.user,
        }
        ids = _rows(clients, owner) | {"createAgentToken": [clients.approved_request(admin)]}
        yield Scenario(service, Path(spooled), callers, clients.person().signed_in, ids)


def with_ids(document: dict[str, Any], ids: dict[str, list[str]]) -> dict[str, Any]:
    """Limit path parameters by operation id, query parameters and body fields by name."""
    changed = deepcopy(document)
    components = changed["components"]
    for methods in changed["paths"].values():
        for operation in methods.values():
            parameters = [_resolved(parameter, components) for parameter in operation.get("parameters", ())]
            for parameter in parameters:
                name = operation["operationId"] if parameter["in"] == "path" else parameter["name"]
                parameter["schema"] = _narrowed(parameter["schema"], ids.get(name), components)
            operation["parameters"] = parameters
    operations = [operation for methods in changed["paths"].values() for operation in methods.values()]
    bodies = str([operation.get("requestBody") for operation in operations])
    for name, schema in components["schemas"].items():
        if f"/{name}'" in bodies:
            for part in (schema, *schema.get("allOf", ())):
                for field, property_schema in part.get("properties", {}).items():
                    part["properties"][field] = _narrowed(property_schema, ids.get(field), components)
    return changed


def _narrowed(schema: dict[str, Any], values: list[str] | None, components: dict[str, Any]) -> dict[str, Any]:
    if not values:
        return schema
    whole = _resolved(schema, components)
    types = [_resolved(choice, components).get("type") for choice in whole.pop("oneOf", ())] or whole.get("type")
    if types not in ("string", ["string", "null"]):
        return schema
    return {key: value for key, value in whole.items() if key not in ("pattern", "examples")} | {
        "type": types,
        "enum": values,
    }


def _resolved(part: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    """A copy of a part of the document, or of the component that it refers to."""
    if "$ref" in part:
        shelf, name = part["$ref"].split("/")[-2:]
        return deepcopy(components[shelf][name])
    return dict(part)


def _rows(clients: Clients, owner: Person) -> dict[str, list[str]]:
    page = clients.page_id(PAGE_URL)
    community = _community(clients.service)
    clients.reconnect()
    post = {"pageId": page, "communityId": community, "content": "A post"}
    posts = [clients.ask("/api/messages", post, **owner.user)["id"] for _ in range(3)]
    # Of the person: other callers are refused.
    own_posts = [clients.ask("/api/messages", post, **owner.user)["id"] for _ in range(2)]
    reaction = clients.ask("/v1/reactions", {"messageId": posts[0], "emoji": "👍"}, **owner.user)["reactionId"]
    embed = clients.ask("/api/embeds/instances", {"name": "E", "communityId": community}, **owner.signed_in)["id"]
    by_embed = ["getEmbedConfig", "getEmbedInstance", "updateEmbedInstance", "getEmbedAnalytics"]
    by_embed += ["getEmbedBlacklist", "putEmbedBlacklist", "serviceId"]
    by_embed += ["rotateSiteSecret", "deleteSiteSecret", "getSiteTokenCheck"]
    of_community = ["updateCommunity", "addModerator", "removeModerator", "banAccount", "liftBan", "hideHere"]
    of_community += ["listHosts", "addHost", "checkHost", "removeHost"]
    of_community += ["listCommunityEmbeds", "endCommunityEmbed"]
    of_community += ["closeDiscussion", "reopenDiscussion", "getDiscussion"]
    return {
        "pageId": [page],
        **dict.fromkeys(("messageId", "parentId", "quoteId", "getMessage", "listReactions", "reportMessage"), posts),
        **{name: [embed] for name in by_embed},
        **dict.fromkeys(("approveMessage", "hideMessage", "restoreMessage", "pinMessage", "unpinMessage"), posts[2:]),
        **{name: [community] for name in of_community},
        "communityId": [community],
        "communityIds": [community],
        "removeReaction": [reaction],
        "editMessage": own_posts[:1],
        "deleteMessage": own_posts[1:],
        "emoji": ["👍", "🎉", "👩🏽‍🚀", ":ship-it:"],
        # The tag that accepts any payload.
        "tagType": ["note"],
        "url": [PAGE_URL, "http://example.org/?b=2&a=1#x", "https://bücher.example/a%20b"],
    }


def _community(service: Service) -> str:
    command = [sys.executable, "manage.py", "create_community", "Generated", "--block", "forbidden*"]
    created = subprocess.run(command, cwd=ROOT, env=service.environment, check=True, capture_output=True)
    community: str = json.loads(created.stdout)["id"]
    return community
