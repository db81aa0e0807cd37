"""The credentials in the OpenAPI document."""

from __future__ import annotations

from config.api.credentials import CredentialKind
from config.api.operations import Operation

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
        "description": "A person's user token (POST /api/auth/embed-token), sent with X-User-Id.",
    },
    "userId": {"type": "apiKey", "in": "header", "name": "X-User-Id", "description": "The user token's subject."},
    "signInToken": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "The access token of the sign-in flow (POST /api/auth/login).",
    },
}


def security_of(operation: Operation) -> list[dict[str, list[str]]]:
    anonymous: list[dict[str, list[str]]] = [{}] if CredentialKind.PUBLIC in operation.callers else []
    return [
        *anonymous,
        *([{"agentToken": sorted(operation.scopes)}] if operation.accepts_agents else []),
        *(requirement for kind, requirement in SECURITY.items() if kind in operation.callers),
    ]
