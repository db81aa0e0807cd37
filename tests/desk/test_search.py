"""The search of the admin finds rows of all kinds, and reads a bounded number of them."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client

from desk import searching
from messaging.models import Message
from messaging.moderation.lists.lists import IN_NEWEST
from tests.admin.many_posts import insert_posts
from tests.admin.pages import page, read
from tests.agents.factories import agent_with_token
from tests.factories import CommunityFactory, MessageFactory, PersonFactory
from tests.plans import generic_plan, rows_read

pytestmark = pytest.mark.django_db
HERON = "CASE WHEN n = 7 THEN 'the heron of the old pier' ELSE 'common words of post ' || n END"
OTHERS = """
INSERT INTO messaging_account (id, handle, name, kind, password, is_active, is_staff, is_superuser, created_at)
    SELECT lpad(to_hex(n), 32, '0')::uuid, 'many_' || n, 'Many', 'human', '!', true, false, false, now()
    FROM generate_series(1, 3000) n;
INSERT INTO messaging_community
    (id, name, slug, blocked_words, agents_may_post, people_may_post, read_only, allowed_tag_types, pre_moderation,
     created_at, updated_at)
    SELECT lpad(to_hex(n), 32, '0')::uuid, 'Many', 'many-' || n, '{}', true, true, false, '{}', 'off', now(), now()
    FROM generate_series(1, 3000) n;
ANALYZE messaging_account;
ANALYZE messaging_community
"""


def many_posts() -> None:
    age = "(3001 - n) * interval '1 minute'"
    insert_posts(3_000, beside=MessageFactory(), with_triggers=True, content=HERON, created_at=f"now() - {age}")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE messaging_searchentry")


def found(client: Client, term: str) -> str:
    response = client.get("/admin/search/", {"q": term})
    assert response.status_code == 200
    return response.content.decode()


def test_one_term_finds_people_agents_communities_and_posts(admin_client: Client) -> None:
    person = PersonFactory(handle="heron_watcher", name="Ada")
    holder = agent_with_token(agent_handle="counter", agent_name="Heron counter")
    community = CommunityFactory(name="All about the heron")
    post = MessageFactory(content="A heron on the pier.")
    text = found(admin_client, "heron")
    for row in (person, holder.agent, community, post):
        assert page(row) in text, row


def test_a_person_is_found_by_handle_name_and_id_and_a_list_by_its_name(admin_client: Client) -> None:
    person = PersonFactory(handle="heron_watcher", name="Ada Lovelace")
    for term in ("@heron_watcher", "heron_w", "ada love", str(person.pk)):
        assert page(person) in found(admin_client, term), term
    assert '<li><a href="/admin/messaging/webhook/">Webhooks</a>' in found(admin_client, "webh")


def test_any_term_is_answered_and_percent_signs_are_no_wildcards(admin_client: Client) -> None:
    MessageFactory(content="A heron.")
    person = PersonFactory(handle="eagle_else", name="Else")
    assert page(person) not in found(admin_client, "e%e")
    for term in ("", " ", "%", "_", "\\", "'; DROP TABLE x; --", "<script>", '"', "-", "🦩" * 300):
        assert "<script>" not in found(admin_client, term), term
        assert admin_client.get("/admin/messaging/message/", {"q": term}).status_code == 200, term


def test_more_rows_than_are_shown_are_announced(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SHOWN_MAX", 2)
    for number in range(3):
        PersonFactory(handle=f"heron_{number}")
        MessageFactory(content=f"heron {number}")
    assert found(admin_client, "heron").count("There may be more") == 2


def test_the_list_of_posts_finds_words_of_published_and_parts_of_new_posts(admin_client: Client) -> None:
    published = MessageFactory(content="The heron of the pier.")
    hidden = MessageFactory(content="An underwater heronry.", status="hidden")
    other = MessageFactory(content="Nothing of it.")
    text = read(admin_client, Message, "changelist", q="heron")
    assert page(published) in text
    assert page(hidden) in text
    assert page(other) not in text


def test_an_old_match_among_many_posts_is_found(admin_client: Client) -> None:
    many_posts()
    for path in ("/admin/search/", "/admin/messaging/message/"):
        for term in ("heron", '"old pier"'):
            text = admin_client.get(path, {"q": term}).content.decode()
            assert "00000000-0000-0000-0000-000000000007" in text, (path, term)


@pytest.mark.parametrize(
    ("statement", "table", "limits"),
    [
        (IN_NEWEST, "messaging_message", {"limit": 20}),
        (searching.IN_ACCOUNTS, "messaging_account", {"newest": 20, "limit": 5, "kind": "human"}),
        (searching.IN_COMMUNITIES, "messaging_community", {"newest": 20, "limit": 5}),
    ],
)
def test_the_names_and_texts_of_the_newest_rows_alone_are_read(statement: str, table: str, limits: Any) -> None:
    many_posts()
    with connection.cursor() as cursor:
        for each in OTHERS.split(";\n"):
            cursor.execute(each)
    plan = generic_plan(statement, {"text": "nowhere", **limits})
    assert rows_read(plan, table) <= 40
