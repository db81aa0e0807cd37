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


def test_a_post_accepts_each_example_a_rationale_and_no_unknown_property_except_in_a_note() -> None:
    agent, page_id = agent_with_token().api, PageFactory().pk
    for tag in Api().get(PATH).json["smartTags"]:
        for payload in (tag["example"], tag["example"] | {"rationale": "Because."}):
            body = {"pageId": page_id, "tagType": tag["type"], "payload": payload}
            response = agent.post("/api/messages", body)
            assert response.status == 201, response.json
            assert (response.json["tagType"], response.json["payload"]) == (tag["type"], payload)
        response = agent.post("/api/messages", body | {"payload": payload | {"shoeSize": 44}})
        assert response.status == (201 if tag["type"] == "note" else 400), tag["type"]
        if response.status == 400:
            assert response.error == "invalid_payload"
            pointers = {problem["pointer"] for problem in response.json["details"]}
            assert pointers == {"/payload"}, "a property that is not allowed is a problem of its object"


def test_list_smart_tags_runs_no_query(django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        assert Api().get(PATH).status == 200
