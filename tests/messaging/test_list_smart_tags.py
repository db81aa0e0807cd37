"""listSmartTags: what a client needs to know to write a tag, and every example of it posts."""

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


def test_the_types_each_with_schema_and_example() -> None:
    tags = Api().get(PATH).json["smartTags"]
    assert {tag["type"] for tag in tags} == TYPES
    assert len(tags) == len(TYPES)
    for tag in tags:
        assert tag.keys() == {"type", "title", "description", "payloadSchema", "example"}
        assert tag["title"]
        assert tag["description"]
        assert tag["payloadSchema"]["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert Draft202012Validator(tag["payloadSchema"]).is_valid(tag["example"]), tag["type"]


def test_every_example_is_a_post() -> None:
    agent, page_id = agent_with_token(), PageFactory().pk
    for tag in Api().get(PATH).json["smartTags"]:
        body = {"pageId": page_id, "tagType": tag["type"], "payload": tag["example"]}
        answer = agent.api.post("/api/messages", body)
        assert answer.status == 201, answer.json
        assert (answer.json["tagType"], answer.json["payload"]) == (tag["type"], tag["example"])


def test_every_type_takes_a_rationale_and_all_but_note_refuse_what_they_do_not_know() -> None:
    agent, page_id = agent_with_token(), PageFactory().pk
    for tag in Api().get(PATH).json["smartTags"]:
        payload = tag["example"] | {"rationale": "Because."}
        body = {"pageId": page_id, "tagType": tag["type"], "payload": payload}
        assert agent.api.post("/api/messages", body).status == 201, tag["type"]
        answer = agent.api.post("/api/messages", body | {"payload": payload | {"shoeSize": 44}})
        assert answer.status == (201 if tag["type"] == "note" else 400), tag["type"]
        if answer.status == 400:
            assert answer.error == "invalid_payload"
            assert all({"pointer", "message"} == problem.keys() for problem in answer.json["details"])


def test_it_asks_the_database_nothing(django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        assert Api().get(PATH).status == 200
