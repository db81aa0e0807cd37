"""Validates responses against the generated OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from typing import Any

import orjson
from django.urls import Resolver404, resolve
from jsonschema_rs import Draft202012Validator

from kernel.api.openapi import views
from kernel.api.openapi.errors import by_status, possible_errors
from kernel.api.openapi.response_headers import HEADERS
from kernel.api.operations import Operation, all_operations

# Of every response; 304 has the headers of 200.
EVERYWHERE = {"X-Request-ID", "ETag"}
CODE = re.compile(r"`(\w+)`")


@cache
def published() -> dict[str, Any]:
    """The document as it is served."""
    served: dict[str, Any] = orjson.loads(views.document("application/json"))
    return served


@cache
def document() -> dict[str, Any]:
    """The document with each reference of an operation replaced by its component, but for schemas; with the common
    security at each operation; and with `default` replaced by the statuses that it has for the operation. The
    description of a refusal lists its codes: those that the operation lists, and those that no operation lists.
    """
    expanded = deepcopy(published())
    declared = {operation.id: operation for _path, _method, operation in all_operations()}
    for methods in expanded["paths"].values():
        for operation in methods.values():
            operation.setdefault("security", expanded["security"])
            operation["parameters"] = [resolved(each) for each in operation.get("parameters", ())]
            for parameter in operation["parameters"]:
                parameter["schema"] = resolved(parameter["schema"])
            operation["responses"] = _responses(operation, declared[operation["operationId"]], _unlisted())
            for response in operation["responses"].values():
                for part in ("headers", "links"):
                    if part in response:
                        response[part] = {name: resolved(each) for name, each in response[part].items()}
    return expanded


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """The component that a reference names, with what is beside the reference."""
    while "$ref" in part:
        shelf, name = part["$ref"].split("/")[-2:]
        part = published()["components"][shelf][name] | {word: part[word] for word in part.keys() - {"$ref"}}
    return part


def properties_of(schema: dict[str, Any]) -> dict[str, Any]:
    """The properties of an object, with those that it takes from other schemas."""
    schema = resolved(schema)
    own: dict[str, Any] = schema.get("properties", {})
    return {name: part for each in schema.get("allOf", ()) for name, part in properties_of(each).items()} | own


def required_of(schema: dict[str, Any]) -> set[str]:
    """The required properties of an object, with those of the schemas that it takes properties from."""
    schema = resolved(schema)
    return set(schema.get("required", ())).union(*(required_of(each) for each in schema.get("allOf", ())))


@cache
def _unlisted() -> set[str]:
    """The codes that no operation lists."""
    operations = [operation for methods in published()["paths"].values() for operation in methods.values()]
    listed = {code for operation in operations for code in CODE.findall(operation.get("description", ""))}
    return {*published()["components"]["schemas"]["Error"]["properties"]["error"]["x-extensible-enum"]} - listed


def _responses(operation: dict[str, Any], declared: Operation, unlisted: set[str]) -> dict[str, Any]:
    responses = {status: dict(resolved(response)) for status, response in operation["responses"].items()}
    other = responses.pop("default")
    for status, errors in by_status(possible_errors(declared)).items():
        response = responses.setdefault(str(status), dict(other))
        codes = {error.default_code for error in errors}
        listed = unlisted.union(CODE.findall(operation.get("description", "")))
        response["description"] = ", ".join(f"`{code}`" for code in sorted(codes & listed))
    return responses


def check_answer(
    method: str, path: str, status: int, content_type: str, body: bytes, headers: Mapping[str, str] | None = None
) -> None:
    """Fail if the status or body of a response is not documented for its operation."""
    if "Deprecation" in (headers or {}):
        # What the document says nothing of is answered as the operation that follows it.
        path = headers["Link"].rpartition("<")[2].partition(">")[0]  # type: ignore[index]
    operation = _operation(method, path)
    if operation is None:
        return
    documented = operation["responses"]
    assert str(status) in documented, f"{method} {path}: {status} is not documented: {body[:300]!r}"
    sent = HEADERS.keys() & (headers or {}).keys()
    described = documented[str(status)].get("headers", {}).keys() | EVERYWHERE
    assert sent <= described, f"{method} {path}: {status} has undocumented headers: {sorted(sent - described)}"
    content = documented[str(status)].get("content", {})
    media_type = content_type.partition(";")[0]
    if not content and not body:
        return
    assert media_type in content, f"{method} {path}: {status} as {media_type} is not documented"
    if not media_type.endswith("json"):
        return
    validator = _validator(operation["operationId"], status, media_type)
    if status >= 400:
        code = orjson.loads(body)["error"].partition(":")[0]
        assert f"`{code}`" in documented[str(status)]["description"], f"{method} {path}: {code} is not documented"
    problems = [error.message for error in validator.iter_errors(orjson.loads(body))]
    assert not problems, f"{method} {path} {status}: {problems[:3]} in {body[:600]!r}"


@cache
def _validator(operation_id: str, status: int, media_type: str) -> Draft202012Validator:
    for methods in document()["paths"].values():
        for operation in methods.values():
            if operation.get("operationId") == operation_id:
                schema = operation["responses"][str(status)]["content"][media_type]["schema"]
                # Definitions and schema share one root, so that `#/components/...` resolves.
                return Draft202012Validator({"components": document()["components"], **schema}, validate_formats=True)
    raise LookupError(operation_id)


def _operation(method: str, path: str) -> dict[str, Any] | None:
    try:
        route = resolve(path.partition("?")[0]).route
    except Resolver404:
        return None
    template = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)
    operation: dict[str, Any] | None = document()["paths"].get(template, {}).get(method.lower())
    return operation
