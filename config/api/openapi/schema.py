"""The OpenAPI 3.1.1 document, generated from the declarations of the operations."""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from config.api.credentials import CredentialKind
from config.api.fields import Id, ListOf, Object, Text
from config.api.ids import CANONICAL
from config.api.openapi.error_responses import by_status, codes_text, error_components, error_schema, possible_errors
from config.api.openapi.metadata import group_name
from config.api.openapi.stream_responses import STREAM_RESPONSES
from config.api.operations import IDEMPOTENCY_KEY_MAX, Operation

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
# The end of text in Python; `$` in JSON Schema.
END = r"\Z"
ID_PATTERN = f"^{CANONICAL.pattern.removesuffix(END)}$"
HEADER_HELP = {
    "Idempotency-Key": "A repeated request with the same key returns the first response.",
    "x-service-embed-id": "The embed that sends the request; its word list and domain rules apply to a post.",
    "If-None-Match": "The `ETag` of an earlier response; 304 if it is still valid.",
    "Last-Event-ID": "The `id` of the last event that the client has got: the stream goes on after it.",
}


class OperationSchema(AutoSchema):
    """An inspector of drf-spectacular that reads `@operation`."""

    @property
    def declared(self) -> Operation:
        return self.view.operation  # type: ignore[attr-defined,no-any-return]

    def is_excluded(self) -> bool:
        return getattr(self.view, "operation", None) is None

    def _is_list_view(self, serializer: Any = None) -> bool:
        """False for responses, because the declared serializer is the envelope; True when filters are collected."""
        return (
            serializer is None and hasattr(self.view, "filterset_class") and getattr(self.view, "action", "") == "list"
        )

    def get_operation_id(self) -> str:
        return self.declared.id

    def get_summary(self) -> str | None:
        return (super().get_description() or "").partition("\n")[0] or None

    def get_description(self) -> str:  # type: ignore[override]  # drf-spectacular's own signature
        return str((super().get_description() or "").partition("\n")[2].strip())

    def get_operation(self, *arguments: Any) -> Any:
        operation = super().get_operation(*arguments)
        for parameter in (operation or {}).get("parameters", ()):
            if "description" in parameter:
                parameter["description"] = parameter["description"].strip()
            if parameter["in"] == "path":
                declared = self.declared.path.get(parameter["name"])
                parameter["schema"] = declared or {"type": "string", "format": "uuid", "pattern": ID_PATTERN}
        body = (operation or {}).get("requestBody", {})
        if not body.get("required"):
            for media in body.get("content", {}).values():
                media["schema"] = {"oneOf": [media["schema"], {"type": "null"}]}
        if operation and self.declared.links:
            operation["responses"][str(self.declared.status)]["links"] = _links(self.declared)
        return operation

    def _get_serializer_name(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> str:
        """`MessageSerializer` renders the component `MessageRecord`: generated clients use these names."""
        name = str(super()._get_serializer_name(serializer, direction, bypass_extensions))
        return f"{name}Record" if type(serializer).__name__.endswith("Serializer") else name

    def get_tags(self) -> list[str]:
        return [group_name(self.view.__class__.__module__)]

    def get_auth(self) -> list[dict[str, list[str]]]:
        operation = self.declared
        anonymous: list[dict[str, list[str]]] = [{}] if CredentialKind.PUBLIC in operation.callers else []
        return [
            *anonymous,
            *([{"agentToken": sorted(operation.scopes)}] if operation.accepts_agents else []),
            *(requirement for kind, requirement in SECURITY.items() if kind in operation.callers),
        ]

    def get_request_serializer(self) -> Any:
        return self.declared.body

    def map_parsers(self) -> list[str]:
        return ["application/json", *(["text/plain"] if self.declared.public_body else [])]

    def map_renderers(self, attribute: str) -> list[str]:
        return ["application/json"]

    def get_override_parameters(self) -> list[Any]:
        operation = self.declared
        parameters: list[Any] = [operation.query] if operation.query else []
        if operation.is_write and CredentialKind.PUBLIC not in operation.callers:
            key = _header("Idempotency-Key", minLength=1, maxLength=IDEMPOTENCY_KEY_MAX, pattern="^[ -~]+$")
            parameters.append(key)
        revalidates = ["If-None-Match"] if operation.revalidates else []
        return parameters + [_header(name) for name in [*revalidates, *operation.headers]]

    def get_response_serializers(self) -> Any:
        operation = self.declared
        success = OpenApiResponse(operation.response, description="Success.")
        responses: dict[Any, Any] = (
            dict(STREAM_RESPONSES) if operation.event else {(operation.status, operation.media.type): success}
        )
        for status, errors in sorted(by_status(possible_errors(operation)).items()):
            responses[status] = OpenApiResponse(error_schema(errors), description=codes_text(errors))
        if operation.revalidates:
            responses[304] = OpenApiResponse(None, description="The response still has the ETag of `If-None-Match`.")
        return responses | dict(operation.also)

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        schema = super()._map_serializer_field(field, direction, bypass_extensions)  # type: ignore[no-untyped-call]
        schema.pop("x-spec-enum-id", None)
        if isinstance(field, Text) and not field.allow_blank:
            schema.setdefault("minLength", 1)
        if isinstance(field, Text) and field.cap is not None:
            schema["maxLength"] = field.cap
        if isinstance(field, Text) and field.pattern is not None:
            schema["pattern"] = f"^{field.pattern.pattern.removesuffix(END)}$"
        if isinstance(field, ListOf) and field.cap is not None:
            schema["maxItems"] = field.cap
        if isinstance(field, Object):
            schema["additionalProperties"] = True
        if isinstance(field, Id):
            schema["pattern"] = ID_PATTERN
        return schema


def _links(operation: Operation) -> dict[str, Any]:
    return {
        follower: {
            "operationId": follower,
            "parameters": {name: f"$response.body#/{field}" for name, field in parameters.items()},
        }
        for follower, parameters in operation.links.items()
    }


def _header(name: str, **schema: Any) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "string", **schema}, OpenApiParameter.HEADER, description=HEADER_HELP[name])


def add_components(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """Post-processing hook: add the components that drf-spectacular cannot derive: security schemes and errors."""
    components = result.setdefault("components", {})
    components["securitySchemes"] = SECURITY_SCHEMES
    components["schemas"] = dict(sorted((components.get("schemas", {}) | error_components()).items()))
    return result
