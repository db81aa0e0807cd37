"""Every page under `/account/`: asked for by everyone who is not its person, and its queries with more rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from pytest_django.plugin import DjangoDbBlocker

from agents.services import cancel_request
from messaging.communities.moderators import add_moderator
from messaging.models import Account, Community
from tests.account_area.world import Page, objects_of, pages
from tests.admin.bystanders import Unchanged
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory
from tests.module_rows import undone_after_module

pytestmark = pytest.mark.django_db
# What a browser without a session needs to get one, or to end what a mail offers.
WITHOUT_A_SESSION = (
    "account/sign-in/",
    "account/sign-up/",
    "account/sign-out/",
    "account/continue/",
    "account/password/reset/",
    "account/address/",
    "account/unsubscribe/",
)
# A super admin moderates every community; other objects of people are in the admin.
OF_MODERATORS = ("account/communities/",)
# What a page may need once more than before: counts that were cached, or a part that an empty list does not have.
SPARE = 1
# Before images, which are requests of their own.
PAGE_MAX_BYTES = 100_000


@pytest.fixture(scope="module")
def objects(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[dict[str, Any]]:
    with undone_after_module(django_db_blocker), override_settings(WEBHOOKS=True, DOMAIN_CHECKS=True):
        yield objects_of(PersonFactory())


def signed_in(account: Account) -> Client:
    client = Client()
    client.force_login(account)
    return client


def needs_session(page: Page) -> bool:
    return not page.route.startswith(WITHOUT_A_SESSION)


def of_an_object(objects: dict[str, Any]) -> list[Page]:
    found = [page for page in pages(objects) if page.has_object and needs_session(page)]
    assert len(found) > 20
    return found


def opens(client: Client, page: Page) -> bool:
    """A redirect from a page to another, and a page that is for POST alone, are open, too."""
    answer = client.get(page.path)
    is_elsewhere = answer.status_code == 302 and not answer["Location"].startswith("/account/sign-in/")
    return is_elsewhere or answer.status_code in {200, 405}


def test_nobody_opens_a_page_without_a_session(objects: dict[str, Any]) -> None:
    """A credential of the API is no session."""
    nobody, api = Client(), Api.as_person(PersonFactory())
    for page in filter(needs_session, pages(objects)):
        for answer in (nobody.get(page.path), nobody.post(page.path), nobody.get(page.path, headers=api.credentials)):
            assert answer.status_code == 302, page
            assert answer["Location"].startswith("/account/sign-in/?next="), page


@pytest.mark.slow
def test_what_belongs_to_another_person_does_not_exist(objects: dict[str, Any]) -> None:
    other = signed_in(PersonFactory())
    for page in of_an_object(objects):
        statuses = {other.get(page.path).status_code, other.post(page.path).status_code}
        # 405: a page that has only one of the methods.
        assert 404 in statuses <= {404, 405}, (page, statuses)


def test_the_person_opens_every_page(objects: dict[str, Any]) -> None:
    """The owner of the site and the community, and the operator of the agent."""
    person = signed_in(Community.objects.get(slug=objects["slug"]).created_by)
    for page in of_an_object(objects):
        assert opens(person, page), page


@pytest.mark.parametrize("who", ["moderator", "super admin"])
def test_moderators_open_pages_of_communities_alone(objects: dict[str, Any], who: str) -> None:
    account = PersonFactory() if who == "moderator" else SuperAdminFactory()
    if who == "moderator":
        community = Community.objects.get(slug=objects["slug"])
        add_moderator(community_id=community.pk, handle=account.handle, by=community.created_by)
    client = signed_in(account)
    for number, page in enumerate(of_an_object(objects)):
        if page.route.startswith(OF_MODERATORS):
            assert opens(client, page), page
        else:
            ask = client.post if (number + (who == "moderator")) % 2 else client.get
            assert ask(page.path).status_code in {404, 405}, page


def test_a_session_that_was_ended_opens_no_page(unchanged: Unchanged) -> None:
    person, client = PersonFactory(), signed_in(unchanged(PersonFactory()))
    ended = signed_in(person)
    assert ended.get("/account/").status_code == 200
    person.end_sessions()
    person.save(update_fields=["sessions_valid_from"])
    assert [each.get("/account/").status_code for each in (ended, client)] == [302, 200]


def test_a_page_that_takes_a_form_refuses_one_of_another_site(objects: dict[str, Any]) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(PersonFactory())
    for number, page in enumerate(filter(needs_session, pages(objects))):
        headers = {"Origin": "https://evil.example"} if number % 2 else {}
        assert client.post(page.path, headers=headers).status_code in (403, 405), page


def queries_of(client: Client, objects: dict[str, Any]) -> dict[str, int]:
    """The number for each page that is shown."""
    counts = {}
    for page in pages(objects):
        with CaptureQueriesContext(connection) as captured:
            response = client.get(page.path)
        if response.status_code == 200:
            assert response.streaming or len(response.content) < PAGE_MAX_BYTES, page.route
            counts[page.route] = len(captured)
    return counts


@pytest.mark.slow
def test_more_rows_need_no_more_queries(client: Client, person: Account, settings: Any) -> None:
    settings.WEBHOOKS = True
    objects = objects_of(person)
    community = Community.objects.get(slug=objects["slug"])
    fill(person, community)
    few = queries_of(client, objects)
    for _ in range(SPARE + 1):
        # A person may have three pending requests.
        cancel_request(request_id=objects_of(person)["request_id"], by=person)
        fill(person, community)
    many = queries_of(client, objects)
    assert len(few) > 40
    more = {route: (few[route], count) for route, count in many.items() if count > few[route] + SPARE}
    assert more == {}


def fill(person: Account, community: Community) -> None:
    """Posts and reactions of the person, and posts of others with reports and answers."""
    own = MessageFactory(author=person, community=community)
    other = MessageFactory(community=community, status="pending")
    reply = MessageFactory(page=own.page, parent=own, community=community)
    api = Api.as_person(person)
    assert api.post("/v1/reactions", {"messageId": str(reply.pk), "emoji": "🎉"}).status == 200
    assert api.post(f"/api/messages/{reply.pk}/report", {"reason": "spam"}).status == 200
    assert other.pk
