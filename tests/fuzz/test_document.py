"""The OpenAPI document is as strict as the fields: a value that it allows has a valid form."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from rest_framework import serializers

from agents.views import PATH as AGENT
from embeds.host_views import PATH as HOST
from kernel.api.fields import Id, Object, Text
from kernel.api.operations import all_operations
from messaging.feeds.views import COMMUNITY, PAGE
from tests.openapi import document, properties_of, required_of, resolved

FROM_BODY = "$response.body#/"
CHAINS_OF_LINKS = (
    "normalizeUrl createMessage createMessage addReaction removeReaction",
    "requestAgent approveAgentRequest createAgentToken revokeAgentToken",
    "createEmbedInstance updateEmbedInstance",
    "login refreshSession",
)
Field = serializers.Field[Any, Any, Any, Any]


def body_fields() -> Iterator[tuple[str, Field]]:
    """(operation.field, field) of every field of every request body."""
    for _path, _method, operation in all_operations():
        if operation.body is not None:
            yield from ((f"{operation.id}.{name}", field) for name, field in operation.body().fields.items())


FIELDS = [(field, where) for where, field in body_fields()]
TEXTS = [(field, where) for field, where in FIELDS if isinstance(field, Text)]


def schema_of(where: str) -> dict[str, Any]:
    operation_id, _, name = where.partition(".")
    operations = (operation for methods in document()["paths"].values() for operation in methods.values())
    found = next(operation for operation in operations if operation["operationId"] == operation_id)
    body = found["requestBody"]["content"]["application/json"]["schema"]
    # A body that may be absent may be null.
    return resolved(properties_of(body.get("oneOf", [body])[0])[name])


def test_nullable_fields_are_documented_as_nullable() -> None:
    assert len(FIELDS) > 50
    for field, where in FIELDS:
        schema = schema_of(where)
        types = [each.get("type", "") for each in (schema, *schema.get("oneOf", ()))]
        assert any("null" in each for each in types) == field.allow_null, schema


def test_text_that_may_not_be_blank_has_a_min_length() -> None:
    assert len(TEXTS) > 25
    for field, where in TEXTS:
        assert (schema_of(where).get("minLength", 0) >= 1) == (not field.allow_blank), (field, where)


def test_ids_and_objects_document_their_form() -> None:
    ids = [schema_of(where) for field, where in FIELDS if isinstance(field, Id)]
    assert len(ids) > 5
    assert all("pattern" in resolved(schema.get("oneOf", [schema])[0]) for schema in ids)
    objects = [schema_of(where) for field, where in FIELDS if isinstance(field, Object)]
    assert len(objects) >= 3
    assert all(schema["additionalProperties"] is True for schema in objects)


def test_a_body_may_be_null_or_absent_if_no_field_is_required() -> None:
    operations = (operation for methods in document()["paths"].values() for operation in methods.values())
    bodies = [operation["requestBody"] for operation in operations if "requestBody" in operation]
    for body in bodies:
        alternatives = body["content"]["application/json"]["schema"]
        alternatives = alternatives.get("oneOf", [alternatives])
        assert body.get("required", False) == bool(required_of(alternatives[0])), alternatives
        assert body.get("required", False) == ({"type": "null"} not in alternatives), alternatives


def test_path_ids_and_idempotency_keys_document_their_form() -> None:
    operations = (operation for methods in document()["paths"].values() for operation in methods.values())
    parameters = [parameter for operation in operations for parameter in operation.get("parameters", ())]
    in_path = [parameter["schema"] for parameter in parameters if parameter["in"] == "path"]
    keys = [parameter["schema"] for parameter in parameters if parameter["name"] == "Idempotency-Key"]
    assert in_path
    assert all("pattern" in schema for schema in in_path)
    others = [schema["pattern"] for schema in (*PAGE.values(), *COMMUNITY.values(), *AGENT.values(), *HOST.values())]
    assert all(schema.get("format") == "uuid" or schema["pattern"] in others for schema in in_path)
    assert keys
    assert all(re.search(schema["pattern"], "a key, of: ~sorts") for schema in keys)
    assert not any(re.search(schema["pattern"], key) for schema in keys for key in ("clé", "a\tkey", ""))


def test_links_use_fields_of_the_response_and_existing_parameters() -> None:
    operations = {
        operation["operationId"]: operation for paths in document()["paths"].values() for operation in paths.values()
    }
    links = [
        (answer, link)
        for operation in operations.values()
        for answer in operation["responses"].values()
        for link in answer.get("links", {}).values()
    ]
    assert len(links) >= 15
    for answer, link in links:
        fields = properties_of(answer["content"]["application/json"]["schema"])
        target = operations[link["operationId"]]
        accepted = {parameter["name"] for parameter in target["parameters"]}
        assert link.get("parameters", {}).keys() <= accepted, link
        if body := link.get("requestBody"):
            assert body.keys() <= properties_of(target["requestBody"]["content"]["application/json"]["schema"]).keys()
        sources = [*link.get("parameters", {}).values(), *link.get("requestBody", {}).values()]
        taken = [source.removeprefix(FROM_BODY).partition("/")[0] for source in sources if source.startswith(FROM_BODY)]
        assert taken or any(source.startswith("$request.") for source in sources), link
        assert set(taken) <= fields.keys(), link


def test_links_lead_from_a_url_to_a_post_and_on_and_from_a_request_to_a_revoked_token() -> None:
    operations = {each["operationId"]: each for methods in document()["paths"].values() for each in methods.values()}

    def followers(name: str) -> set[str]:
        answers = operations[name]["responses"].values()
        return {link["operationId"] for answer in answers for link in answer.get("links", {}).values()}

    for chain in CHAINS_OF_LINKS:
        for name, follower in pairwise(chain.split()):
            assert follower in followers(name), f"{name} → {follower}"
    assert (
        len({follower for name in operations for follower in followers(name)} | {*filter(followers, operations)}) >= 30
    )


def test_generated_requests_may_have_an_invalid_cursor_wherever_there_is_one() -> None:
    operations = (operation for methods in document()["paths"].values() for operation in methods.values())
    paginated = {
        operation["operationId"]
        for operation in operations
        if any(parameter["name"] == "cursor" for parameter in operation.get("parameters", ()))
    }
    expectations = tomllib.loads((Path(__file__).parent / "schemathesis.toml").read_text())["operations"]
    assert paginated <= {each for group in expectations for each in group.get("include-operation-id", ())}
