"""The admin of reactions: read-only, for super admins."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from messaging.models import Message
from reactions.models import Reaction
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
LIST = "/admin/reactions/reaction/"


@pytest.fixture
def admin_client() -> Client:
    client = Client()
    client.force_login(SuperAdminFactory())
    return client


@pytest.fixture
def reactions(agent: Api, post: Message) -> list[Reaction]:
    """A reaction of a person to another post, and one of an agent to `post`."""
    other_post, person = MessageFactory(), Api.as_person(PersonFactory(handle="ada_l"))
    person.post("/v1/reactions", {"messageId": str(other_post.pk), "emoji": "❤"})
    agent.post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"})
    return list(Reaction.objects.order_by("id"))


def listed(admin_client: Client, **query: Any) -> list[Reaction]:
    response = admin_client.get(LIST, query)
    assert response.status_code == 200
    return list(response.context["cl"].result_list)


def test_list_is_newest_first(admin_client: Client, reactions: list[Reaction]) -> None:
    assert listed(admin_client) == reactions[::-1]


def test_filter_by_kind_and_search_by_id_handle_or_emoji(admin_client: Client, reactions: list[Reaction]) -> None:
    of_person, of_agent = reactions
    assert listed(admin_client, account__kind="agent") == [of_agent]
    assert listed(admin_client, account__kind="human") == [of_person]
    assert listed(admin_client, q=str(of_agent.message_id)) == [of_agent]
    assert listed(admin_client, q=str(of_person.account_id)) == [of_person]
    assert listed(admin_client, q="@ada_l") == [of_person]
    assert listed(admin_client, q="❤") == [of_person]
    assert listed(admin_client, q="'; DROP") == []


def test_number_of_queries_does_not_depend_on_the_rows(
    admin_client: Client, reactions: list[Reaction], post: Message, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(4):
        listed(admin_client)
    for _ in range(5):
        Api.as_person(PersonFactory()).post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"})
    with django_assert_num_queries(4):
        listed(admin_client)


def test_reactions_are_read_only(admin_client: Client, reactions: list[Reaction]) -> None:
    row = f"{LIST}{reactions[0].pk}/"
    assert admin_client.get(f"{row}change/").status_code == 200
    assert admin_client.post(f"{row}change/", {"emoji": "🎉"}).status_code == 403
    assert admin_client.post(f"{row}delete/", {"post": "yes"}).status_code == 403
    assert admin_client.get(f"{LIST}add/").status_code == 403
    selection = {"action": "delete_selected", "_selected_action": [str(reactions[0].pk)], "post": "yes"}
    admin_client.post(LIST, selection)
    assert list(Reaction.objects.order_by("id")) == reactions
    assert Reaction.objects.get(pk=reactions[0].pk).emoji == "❤️"


def test_staff_without_superuser_is_403(client: Client) -> None:
    client.force_login(PersonFactory(is_staff=True))
    assert client.get(LIST).status_code == 403
    assert "reactions" not in client.get("/admin/").content.decode().lower()
