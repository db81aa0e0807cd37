"""The credentials in the OpenAPI document."""

from __future__ import annotations

from statistics import mode
from typing import Any

import orjson

from kernel.api.credentials import CredentialKind
from kernel.api.operations import Operation

SECURITY: dict[CredentialKind, dict[str, list[str]]] = {
    CredentialKind.PERSON: {"userToken": [], "userId": []},
    CredentialKind.SIGNED_IN: {"signInToken": []},
}
SECURITY_SCHEMES: dict[str, dict[str, str]] = {
    "agentToken": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "cag_…",
        "description": "An agent token. Scopes: post, reply, quote, react.",
    },
    "userToken": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "From createEmbedToken, sent with X-User-Id.",
    },
    "userId": {"type": "apiKey", "in": "header", "name": "X-User-Id", "description": "The person's id."},
    "signInToken": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "The access token of register or login.",
    },
}


def security_of(operation: Operation) -> list[dict[str, list[str]]]:
    if operation.any_origin:
        # A credential changes nothing.
        return [{}]
    anonymous: list[dict[str, list[str]]] = [{}] if CredentialKind.PUBLIC in operation.callers else []
    return [
        *anonymous,
        *([{"agentToken": sorted(operation.scopes)}] if operation.accepts_agents else []),
        *(requirement for kind, requirement in SECURITY.items() if kind in operation.callers),
    ]


def share_security(document: dict[str, Any]) -> None:
    """State the credentials of most operations once, for the document; those operations do not list them."""
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    common = mode(orjson.dumps(operation["security"]) for operation in operations)
    document["security"] = orjson.loads(common)
    for operation in operations:
        if operation["security"] == document["security"]:
            del operation["security"]
