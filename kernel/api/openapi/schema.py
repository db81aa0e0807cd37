"""The OpenAPI 3.1.1 document, generated from the declarations of the operations.

The links of an operation: what can follow, and what of the response it takes.

`Operation.links` is {operation: {target: source}}. A target is the name of a parameter, or `body.` and the name of a
field of the body. A source is the path of a field of the response (`id`, `messages/0/id`); one that begins with `$` is
a runtime expression of OpenAPI, and one that begins with `=` is a text.

The successful responses of a stream in the OpenAPI document.

The credentials in the OpenAPI document.

The examples of responses, from the examples of their schemas' fields, as Swagger UI and Redoc compose them.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from statistics import mode
from typing import Any

import orjson
from django.conf import settings
from drf_spectacular.contrib.django_filters import DjangoFilterExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from kernel.api.credentials import CredentialKind
from kernel.api.openapi.errors import error_components, known_codes, own_codes, refusal_components, refusals
from kernel.api.openapi.field_schemas import COMMON_TYPES, base_of, completed, constrained, extended
from kernel.api.openapi.metadata import group_name, published_info
from kernel.api.openapi.response_headers import header_components, of_other_success, of_success
from kernel.api.openapi.sharing import inline_single_uses, share, share_types
from kernel.api.operations import IDEMPOTENCY_KEY_MAX, Operation, all_operations

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


class StreamAddressSerializer(serializers.Serializer[Any]):
    streamUrl = serializers.URLField(help_text="The origin that serves streams.")


EVENTS = """\
Server-sent events: `event` is the type, `data` the item as in the list, `id` the cursor after it. `event: resync` \
(`data` is `{"id": "<cursor>"}`): changes before this cursor are no longer stored; read the current state.\
"""
STREAM_RESPONSES: dict[Any, Any] = {
    (200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR, description=EVENTS),
    307: OpenApiResponse(StreamAddressSerializer, description="The stream is at `Location`, on `streamUrl`."),
}


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


Schemas = dict[str, dict[str, Any]]


def add_examples(document: dict[str, Any], overlays: dict[str, dict[str, Any]]) -> None:
    """Add an example to the response of each operation in `overlays`: what differs from that of its schema."""
    schemas = document["components"]["schemas"]
    operations = (operation for methods in document["paths"].values() for operation in methods.values())
    for operation in operations:
        if overlay := overlays.get(operation["operationId"]):
            status = next(status for status in operation["responses"] if status.startswith("2"))
            content = operation["responses"][status]["content"]
            media = next(media for media_type, media in content.items() if media_type.endswith("json"))
            media["example"] = sample(media["schema"], schemas) | overlay


def sample(schema: dict[str, Any], schemas: Schemas) -> Any:
    """The example of a schema: its own, or that of its parts, without the optional fields that have none."""
    while "$ref" in schema and "examples" not in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    if "examples" in schema:
        return schema["examples"][0]
    if "enum" in schema:
        return schema["enum"][0]
    if "allOf" in schema:
        return {name: value for part in schema["allOf"] for name, value in sample(part, schemas).items()}
    if "oneOf" in schema:
        return sample(schema["oneOf"][0], schemas)
    # A part of an `allOf` does not repeat that it is an object.
    of_type = schema.get("type", "object")
    if "null" in of_type:
        return None
    if of_type == "array":
        return [sample(schema["items"], schemas)]
    if of_type != "object":
        raise LookupError(f"no example: {schema}")
    fields, required = schema.get("properties", {}), schema.get("required", ())
    return {
        name: sample(part, schemas)
        for name, part in fields.items()
        if name in required or part.get("examples", [None])[0] is not None
    }


# Otherwise the first document of a process searches the machine for the libraries of GeoDjango, with `ld` and `gcc`.
DjangoFilterExtension._has_gis = False  # type: ignore[attr-defined]

HEADER_HELP = {
    "Idempotency-Key": "A repeated request with the same key returns the first response.",
    "x-service-embed-id": "The embed that sends the request; its rules apply to a post.",
    "X-Community-Panel": "`1`: the request comes from the panel. `Origin` has to be the panel's too.",
    "Last-Event-ID": "The `id` of the last event: the stream goes on after it.",
}
PATH_HELP = {
    "serviceId": "The id of the embed.",
    "pageId": "The id of the page (normalizeUrl).",
    "handle": "The handle of the agent, without @.",
    "slug": "The slug of the community.",
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
        # Pages show a summary as text, a description as Markdown.
        return (super().get_description() or "").partition("\n")[0].replace("`", "") or None

    def get_description(self) -> str:  # type: ignore[override]  # drf-spectacular's own signature
        text = (super().get_description() or "").partition("\n")[2].strip().replace("\n", " ")
        return "\n\n".join(filter(None, (text, own_codes(self.declared))))

    def get_operation(self, *arguments: Any) -> Any:
        operation = super().get_operation(*arguments)
        if operation is None:
            return None
        for parameter in operation.get("parameters", ()):
            self._complete(parameter)
        body = operation.get("requestBody", {})
        # Of a body that changes something, no field is required.
        if self.declared.body and not all(field.allow_null for field in self.declared.body().fields.values()):
            body["required"] = True
        else:
            for media in body.get("content", {}).values():
                media["schema"] = {"oneOf": [media["schema"], {"type": "null"}]}
        if operation.get("security") == [{}]:
            # Generated clients would ask for a token.
            operation["security"] = []
        self._add_headers_and_links(operation["responses"])
        operation["responses"] |= refusals(self.declared)
        return operation

    def _add_headers_and_links(self, responses: dict[str, Any]) -> None:
        """304 has the headers of 200, without saying so."""
        declared = self.declared
        for status in responses.keys() - {"304"}:
            parts = (
                {"headers": of_success(declared), "links": links_of(declared)}
                if int(status) == declared.status
                else {"headers": of_other_success(declared, int(status))}
            )
            responses[status] |= {name: part for name, part in parts.items() if part}

    def _complete(self, parameter: dict[str, Any]) -> None:
        if parameter["in"] == "path":
            parameter["schema"] = dict(self.declared.path.get(parameter["name"]) or COMMON_TYPES["Id"])
            parameter.setdefault("description", PATH_HELP.get(parameter["name"], "The id."))
        parameter["description"] = parameter.get("description", "").strip()
        if "enum" in parameter["schema"]:
            parameter["schema"].pop("minLength", None)

    def get_tags(self) -> list[str]:
        return [group_name(self.view.__class__.__module__)]

    def get_auth(self) -> list[dict[str, list[str]]]:
        return security_of(self.declared)

    def get_request_serializer(self) -> Any:
        return self.declared.body

    def map_parsers(self) -> list[str]:
        # A form, as OAuth has it, is not named: generators of clients make no valid code of two types with fields.
        return ["application/json", *(["text/plain"] if self.declared.public_body else [])]

    def map_renderers(self, attribute: str) -> list[str]:
        return ["application/json"]

    def get_override_parameters(self) -> list[Any]:
        operation = self.declared
        parameters: list[Any] = [operation.query] if operation.query else []
        if operation.takes_key:
            key = _header("Idempotency-Key", minLength=1, maxLength=IDEMPOTENCY_KEY_MAX, pattern="^[ -~]+$")
            parameters.append(key)
        return parameters + [_header(name) for name in operation.headers]

    def get_response_serializers(self) -> Any:
        operation = self.declared
        success = OpenApiResponse(operation.response, description=HTTPStatus(operation.status).phrase)
        responses: dict[Any, Any] = (
            dict(STREAM_RESPONSES) if operation.event else {(operation.status, operation.media.type): success}
        )
        if operation.revalidates:
            responses[304] = OpenApiResponse(None, description="Not Modified")
        return responses | dict(operation.also)

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        schema = super()._map_serializer_field(field, direction, bypass_extensions)  # type: ignore[no-untyped-call]
        return constrained(schema, field)

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Any:
        schema = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        schema = completed(schema, serializer)
        base = base_of(serializer)
        if base is None:
            return schema
        return extended(schema, self.resolve_serializer(base, direction).ref, set(base().fields))


def _header(name: str, **schema: Any) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "string", **schema}, OpenApiParameter.HEADER, description=HEADER_HELP[name])


def add_components(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """Post-processing hook: add what drf-spectacular cannot derive, and share what operations have in common."""
    components = result.setdefault("components", {})
    components["securitySchemes"] = SECURITY_SCHEMES
    schemas = components.get("schemas", {}) | error_components(known_codes())
    components["schemas"] = schemas
    components["headers"] = header_components()
    components["responses"] = refusal_components()
    share_types(result, COMMON_TYPES)
    add_examples(result, {each.id: dict(each.example) for _path, _method, each in all_operations()})
    share(result)
    inline_single_uses(result, named=set(COMMON_TYPES))
    share_security(result)
    result["info"] |= published_info()
    result["servers"] = [{"url": settings.BASE_URL}]
    return result
