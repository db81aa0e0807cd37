"""Compares what the client sends with the OpenAPI document: the service ignores parameters and fields it has not."""

from __future__ import annotations

import re
from typing import Any

import httpx
import orjson

from tests.openapi import document, properties_of


def checked_http() -> httpx.Client:
    return httpx.Client(timeout=60, event_hooks={"request": [check_request]})


def check_request(request: httpx.Request) -> None:
    """Fail if the operation, a query parameter or a field of the body is not documented."""
    path = request.url.raw_path.decode().partition("?")[0]
    if path == "/":
        return
    operation = operation_of(request.method, path)
    parameters = {parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query"}
    assert request.url.params.keys() <= parameters, (request.url, parameters)
    if request.content:
        fields = set(orjson.loads(request.content))
        assert fields <= body_fields(operation), (request.url, fields)


def operation_of(method: str, path: str) -> dict[str, Any]:
    for template, methods in document()["paths"].items():
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template))
        if re.fullmatch(pattern, path) and method.lower() in methods:
            operation: dict[str, Any] = methods[method.lower()]
            return operation
    raise AssertionError(f"{method} {path} is not documented")


def body_fields(operation: dict[str, Any]) -> set[str]:
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    for alternative in schema.get("oneOf", [schema]):
        if "$ref" in alternative:
            return set(properties_of(alternative))
    raise AssertionError(f"a body without a component: {schema}")
