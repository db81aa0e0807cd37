"""Other spellings of the same: keys in quotes, booleans in capitals; compressed bodies have a refusal of their own."""

from __future__ import annotations

import gzip
import json

import pytest

from messaging.models import Message
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import MessageFactory, PageFactory, PersonFactory

pytestmark = pytest.mark.django_db
PATH = "/api/messages"


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("x", '"x"', True),
        ('"a b"', "a b", True),
        (r'"a\"b\\"', 'a"b\\', True),
        ('"' + "k" * 160 + '"', "k" * 160, True),
        # These are no strings of a structured field, and are taken as they are.
        ('"x', "x", False),
        ('"x"y"', "x", False),
        ('x"', "x", False),
        (r'"x\y"', r"x\y", False),
        ('"X"', "x", False),
    ],
)
def test_a_key_in_quotes_equals_the_key_without(first: str, second: str, is_same: bool) -> None:
    api, page = agent_with_token().api, PageFactory()
    answers = [api.post(PATH, {"pageId": page.pk, "content": "Once."}, key=key) for key in (first, second)]
    assert [answer.status for answer in answers] == [201, 201]
    assert (answers[0].json["id"] == answers[1].json["id"]) == is_same
    assert Message.objects.count() == (1 if is_same else 2)


@pytest.mark.parametrize("key", ['""', '"' + "k" * 161 + '"', '"é"'])
def test_a_key_in_quotes_has_the_same_limits(key: str) -> None:
    answer = agent_with_token().api.post(PATH, {"pageId": PageFactory().pk, "content": "No."}, key=key)
    assert (answer.status, answer.error) == (400, "invalid_idempotency_key")
    assert not Message.objects.exists()


@pytest.mark.parametrize("text", ["True", "TRUE", "true", "1"])
def test_every_spelling_of_a_dry_run_writes_nothing(text: str) -> None:
    api, page = Api.as_person(PersonFactory()), PageFactory()
    answer = api.post(f"{PATH}?dryRun={text}", {"pageId": page.pk, "content": "Only checked."})
    assert (answer.status, answer.json["wouldBe"]) == (200, "published")
    assert not Message.objects.exists()


@pytest.mark.parametrize(("text", "status"), [("False", 201), ("FALSE", 201), ("0", 201), ("yes", 400), ("tru", 400)])
def test_what_is_no_dry_run_is_a_write_or_refused(text: str, status: int) -> None:
    api, page = Api.as_person(PersonFactory()), PageFactory()
    assert api.post(f"{PATH}?dryRun={text}", {"pageId": page.pk, "content": "A post."}).status == status
    assert Message.objects.count() == (1 if status == 201 else 0)


@pytest.mark.parametrize(
    ("text", "has_top_reply"), [("True", True), ("TRUE", True), ("False", False), ("FALSE", False)]
)
def test_booleans_of_a_query_take_capitals(text: str, has_top_reply: bool) -> None:
    post = MessageFactory()
    (listed,) = Api().get(PATH, pageId=post.page_id, includeTopReply=text).json["messages"]
    assert ("topReply" in listed) == has_top_reply


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "br", "deflate", "identity, gzip"])
def test_a_compressed_body_is_refused_with_its_own_code(encoding: str) -> None:
    page = PageFactory()
    body = gzip.compress(json.dumps({"pageId": page.pk, "content": "Compressed."}).encode())
    answer = Api.as_person(PersonFactory()).send("POST", PATH, raw=body, headers={"Content-Encoding": encoding})
    assert (answer.status, answer.error) == (415, "unsupported_content_encoding")
    assert (answer.json["allowed"], answer.headers["Accept-Encoding"]) == (["identity"], "identity")
    assert not Message.objects.exists()


def test_a_body_that_is_declared_as_it_is_is_read() -> None:
    body = json.dumps({"pageId": PageFactory().pk, "content": "As it is."}).encode()
    answer = Api.as_person(PersonFactory()).send("POST", PATH, raw=body, headers={"Content-Encoding": "identity"})
    assert answer.status == 201
