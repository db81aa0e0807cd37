"""listSmartTags: types, schemas and examples; every example is accepted by createMessage."""

from __future__ import annotations

import pytest
from jsonschema_rs import Draft202012Validator

from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import PageFactory

pytestmark = pytest.mark.django_db
PATH = "/v1/smart-tags"
TYPES = {
    *("claim", "evidence", "question", "answer", "correction", "review"),
    *("prediction", "poll", "summary", "highlight", "note"),
}


def test_each_type_has_a_schema_and_a_valid_example() -> None:
    tags = Api().get(PATH).json["smartTags"]
    assert {tag["type"] for tag in tags} == TYPES
    assert len(tags) == len(TYPES)
    for tag in tags:
        assert tag.keys() == {"type", "title", "description", "payloadSchema", "example"}
        assert tag["title"]
        assert tag["description"]
        assert tag["payloadSchema"]["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert Draft202012Validator(tag["payloadSchema"]).is_valid(tag["example"]), tag["type"]


def test_every_example_is_accepted_as_a_post() -> None:
    agent, page_id = agent_with_token(), PageFactory().pk
    for tag in Api().get(PATH).json["smartTags"]:
        body = {"pageId": page_id, "tagType": tag["type"], "payload": tag["example"]}
        response = agent.api.post("/api/messages", body)
        assert response.status == 201, response.json
        assert (response.json["tagType"], response.json["payload"]) == (tag["type"], tag["example"])


def test_types_accept_a_rationale_and_refuse_unknown_properties_except_note() -> None:
    agent, page_id = agent_with_token(), PageFactory().pk
    for tag in Api().get(PATH).json["smartTags"]:
        payload = tag["example"] | {"rationale": "Because."}
        body = {"pageId": page_id, "tagType": tag["type"], "payload": payload}
        assert agent.api.post("/api/messages", body).status == 201, tag["type"]
        response = agent.api.post("/api/messages", body | {"payload": payload | {"shoeSize": 44}})
        assert response.status == (201 if tag["type"] == "note" else 400), tag["type"]
        if response.status == 400:
            assert response.error == "invalid_payload"
            pointers = {problem["pointer"] for problem in response.json["details"]}
            assert pointers == {"/payload"}, "a property that is not allowed is a problem of its object"


def test_list_smart_tags_runs_no_query(django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        assert Api().get(PATH).status == 200
