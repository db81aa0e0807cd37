"""The OpenAPI 3.1.1 document, generated from the declarations of the operations."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.conf import settings
from drf_spectacular.contrib.django_filters import DjangoFilterExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from kernel.api.credentials import CredentialKind
from kernel.api.openapi.error_responses import known_codes, own_codes, refusal_components, refusals
from kernel.api.openapi.error_schemas import error_components
from kernel.api.openapi.examples import add_examples
from kernel.api.openapi.field_schemas import COMMON_TYPES, base_of, completed, constrained, extended
from kernel.api.openapi.inlining import inline_single_uses
from kernel.api.openapi.links import links_of
from kernel.api.openapi.metadata import group_name, published_info
from kernel.api.openapi.response_headers import header_components, of_other_success, of_success
from kernel.api.openapi.security import SECURITY_SCHEMES, security_of, share_security
from kernel.api.openapi.sharing import share, share_types
from kernel.api.openapi.stream_responses import STREAM_RESPONSES
from kernel.api.operations import IDEMPOTENCY_KEY_MAX, Operation, all_operations

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
        return ["application/json", *(["text/plain"] if self.declared.public_body else [])]

    def map_renderers(self, attribute: str) -> list[str]:
        return ["application/json"]

    def get_override_parameters(self) -> list[Any]:
        operation = self.declared
        parameters: list[Any] = [operation.query] if operation.query else []
        if operation.is_write and CredentialKind.PUBLIC not in operation.callers:
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
