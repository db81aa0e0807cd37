"""Validates responses against the generated OpenAPI document."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import orjson
from django.urls import Resolver404, resolve
from drf_spectacular.generators import SchemaGenerator
from jsonschema_rs import Draft202012Validator


@cache
def document() -> dict[str, Any]:
    generated: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return generated


def check_answer(method: str, path: str, status: int, content_type: str, body: bytes) -> None:
    """Fail if the status or body of a response is not documented for its operation."""
    operation = _operation(method, path)
    if operation is None:
        return
    documented = operation["responses"]
    assert str(status) in documented, f"{method} {path}: {status} is not documented: {body[:300]!r}"
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
