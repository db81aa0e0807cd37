"""The components of the bodies of refusals in the OpenAPI document."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from kernel.api.error_pages import described
from kernel.api.exceptions import ContentTooLong, OverCap, RateLimited


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties}


def _text(description: str, **schema: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **schema}


def _number(description: str) -> dict[str, Any]:
    return {"type": "integer", "description": description}


def _list(items: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": items, "description": description}


COMPONENTS = "#/components/schemas/"
CODE_HELP = "The code; expect others. A part after a colon is a scope."
POINTER_HELP = "A JSON Pointer into the body, or `?name` of a parameter."
BASE = {
    "message": _text("What to do next, in one sentence."),
    "requestId": _text("As in `X-Request-ID`."),
    "docs": _text("The page that explains the code.", format="uri"),
}
LIMIT = {
    "field": _text("A JSON path into the body, or the name of a parameter or header."),
    "max": _number("The cap."),
}
OPTIONAL = {
    **LIMIT,
    "details": _list({"$ref": f"{COMPONENTS}ErrorDetail"}, "Everything that is wrong, by its place."),
    "allowed": _list({"type": "string"}, "What would do; of a scope, those granted."),
    "needed": _list({"type": "string"}, "The scopes that the request needs."),
    "counter": _text("The limit that is reached."),
    "limit": _number("How much the limit allows."),
    "retryAfter": _number("Seconds to wait."),
    "status": _text("The status that does not allow it."),
    "rule": _text("The rule of the community that does not allow it."),
}


def error_components(codes: list[str]) -> dict[str, Any]:
    """The components; `codes`: those that responses may have.

    A schema for each operation and status would be hundreds of equal classes in a client.
    """
    over_cap = sorted(error.default_code for error in OverCap.__subclasses__())
    required = ["error", "message", "requestId", "docs"]
    components = {
        "Error": {
            **_object(required, error=_text(CODE_HELP, **{"x-extensible-enum": codes}), **BASE, **OPTIONAL),
            "examples": [described(RateLimited)["example"]],
        },
        "LimitError": {
            "allOf": [
                {"$ref": f"{COMPONENTS}Error"},
                {
                    "type": "object",
                    "required": ["field", "max"],
                    "properties": {"error": _text("Which cap it is.", enum=over_cap)},
                },
            ],
            "examples": [described(ContentTooLong)["example"]],
        },
        "ErrorDetail": _object(["pointer", "message"], pointer=_text(POINTER_HELP), message=_text("What is wrong.")),
    }
    # The generator inlines some of them in place.
    return deepcopy(components)
