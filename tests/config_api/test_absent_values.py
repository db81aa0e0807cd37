"""`null` is an absent field or body if it is optional; a query parameter must not be repeated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from rest_framework import serializers

from kernel.api.exception_handler import faults_of, json_path
from kernel.api.operations import all_operations
from kernel.api.serializers import BodySerializer
from tests.api import Api
from tests.factories import CommunityFactory, PageFactory, SuperAdminFactory
from tests.security.world import World

pytestmark = pytest.mark.django_db
Serializer = serializers.Serializer[Any]
DECLARED = {operation.id: operation for _path, _method, operation in all_operations()}
WITH_QUERY = [name for name, operation in DECLARED.items() if operation.query is not None]


def objects_in(serializer: Serializer, path: str = "") -> Iterator[tuple[str, Serializer]]:
    """(path, serializer) of a body and of every object in it."""
    yield path, serializer
    for name, field in serializer.fields.items():
        inner = getattr(field, "child", field)
        if isinstance(inner, BodySerializer):
            yield from objects_in(inner, f"{path}.{name}")


def test_null_is_absent_in_optional_fields_and_refused_in_others() -> None:
    bodies = {name: operation.body() for name, operation in DECLARED.items() if operation.body is not None}
    assert len(bodies) > 20
    objects = [
        (f"{operation}{where}", found) for operation, body in bodies.items() for where, found in objects_in(body)
    ]
    for where, serializer in objects:
        partial = getattr(serializer.root, "partial", False)
        for name, field in serializer.fields.items():
            absent, null = validated(serializer, {}), validated(serializer, {name: None})
            if field.required and not partial:
                assert name in null[1], f"{where}.{name}"
            else:
                assert null == absent, f"{where}.{name}"


def validated(serializer: Serializer, data: Any) -> tuple[Any, set[str]]:
    """(value, refused fields)."""
    try:
        return dict(serializer.run_validation(data)), set()
    except serializers.ValidationError as refusal:
        return None, {json_path(fault.path) for fault in faults_of(refusal.detail)}


def is_optional(body: type[Serializer] | None) -> bool:
    """Whether a body without fields is valid."""
    return body is not None and not validated(body(), {})[1]


OPTIONAL_BODY = [name for name, operation in DECLARED.items() if is_optional(operation.body)]


def test_a_post_may_set_every_optional_field_to_null() -> None:
    person, page = Api.as_person(SuperAdminFactory()), PageFactory().pk
    optional = ("communityId", "parentId", "quoteId", "tagType", "payload", "anchorText", "contextAnchor")
    body = dict.fromkeys((*optional, "attachments", "language", "sourceApp"))
    response = person.post("/api/messages", body | {"pageId": page, "content": "Hi"})
    assert (response.status, response.json["attachments"], response.json["payload"]) == (201, [], None)
    assert person.post("/api/messages", body | {"pageId": page, "content": None}).error == "empty_message"
    for wrong in ({"pageId": None}, {"attachments": [None]}, {"attachments": [{"type": "a", "url": None}]}):
        refused = person.post("/api/messages", {"pageId": page, "content": "Hi"} | wrong)
        assert (refused.status, refused.json["field"].split("[")[0]) == (400, next(iter(wrong)))


def test_null_changes_no_field_of_an_embed() -> None:
    owner, community = Api.as_signed_in(SuperAdminFactory()), str(CommunityFactory().pk)
    trigger = {"type": "bubble", "message": "Talk", "color": None, "size": None}
    rules = {"type": "patterns", "patterns": ["/blog/*"]}
    made = owner.post(
        "/api/embeds/instances",
        {"name": "E", "communityId": community, "triggerConfig": trigger, "pageRules": rules, "status": None},
    )
    assert (made.status, made.json["status"], made.json["triggerConfig"]["message"]) == (201, "active", "Talk")
    url = f"/api/embeds/instances/{made.json['id']}"
    changes = dict.fromkeys(("name", "communityId", "description", "domainWhitelist", "blockedWords", "status"))
    nested = {"pageRules": {"type": None, "patterns": None}, "triggerConfig": {"type": None, "message": None}}
    for body in (changes | nested, {"pageRules": None, "triggerConfig": None}, None):
        response = owner.put(url, body)
        assert response.status == 200
        assert response.json | {"updatedAt": ""} == made.json | {"updatedAt": ""}


@pytest.mark.parametrize("row", OPTIONAL_BODY)
def test_null_is_an_absent_body_if_the_body_is_optional(row: str) -> None:
    """Every spelling of an absent body is the same to a key."""
    world = World()
    call, caller = world.call(row), world.permitted(row)
    response = caller.send(call.method, call.path, raw=b"null", key="a key")
    assert response.status < 300, response.body
    for body in (b"null", b" null ", b"", b"{}"):
        repeated = caller.send(call.method, call.path, raw=body, key="a key")
        assert (repeated.status, repeated.body) == (response.status, response.body), body


def test_other_values_are_not_an_absent_body() -> None:
    path, boss = f"/v1/agent-tokens/requests/{uuid4()}/approve", Api.as_person(SuperAdminFactory())
    assert [boss.send("POST", path, raw=body).status for body in (b"[]", b"0", b'""', b"false")] == [400] * 4


@pytest.mark.parametrize("row", WITH_QUERY)
def test_a_repeated_query_parameter_is_400(row: str) -> None:
    world = World()
    call, caller = world.call(row), world.permitted(row)
    path = call.path.partition("?")[0]
    query = DECLARED[row].query
    assert query is not None
    for name in query().fields:
        response = caller.send(call.method, f"{path}?{name}=1&{name}=1")
        assert (response.status, response.json["field"]) == (400, name)
        assert response.json["details"] == [{"pointer": f"?{name}", "message": f"Send `{name}` once: it is repeated."}]


def test_an_unknown_query_parameter_may_be_repeated() -> None:
    page = PageFactory().pk
    assert Api().get("/api/messages", pageId=page, shoeSize=["44", "45"]).status == 200
    assert Api().get("/v1/smart-tags", limit=["1", "2"]).status == 200, "no query parameters"
