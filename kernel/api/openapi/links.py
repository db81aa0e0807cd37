"""The links of an operation: what can follow, and what of the response it takes.

`Operation.links` is {operation: {target: source}}. A target is the name of a parameter, or `body.` and the name of a
field of the body. A source is the path of a field of the response (`id`, `messages/0/id`); one that begins with `$` is
a runtime expression of OpenAPI, and one that begins with `=` is a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernel.api.operations import Operation

BODY = "body."


def links_of(operation: Operation) -> dict[str, Any]:
    return {follower: _link(follower, targets) for follower, targets in operation.links.items()}


def _link(follower: str, targets: Mapping[str, str]) -> dict[str, Any]:
    parameters = {name: _value(source) for name, source in targets.items() if not name.startswith(BODY)}
    body = {name.removeprefix(BODY): _value(source) for name, source in targets.items() if name.startswith(BODY)}
    return {
        "operationId": follower,
        **({"parameters": parameters} if parameters else {}),
        **({"requestBody": body} if body else {}),
    }


def _value(source: str) -> str:
    if source.startswith("="):
        return source[1:]
    return source if source.startswith("$") else f"$response.body#/{source}"
