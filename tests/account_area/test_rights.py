"""Every page under `/account/`, asked for by everyone who is not its person. A new page is tested by its address."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from messaging.models import Account, Community
from messaging.services.moderators import add_moderator
from tests.account_area.world import Page, objects_of, pages
from tests.api import Api
from tests.factories import PersonFactory, SuperAdminFactory

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


@pytest.fixture
def objects(settings: Any) -> dict[str, Any]:
    settings.WEBHOOKS = True
    return objects_of(PersonFactory())


def signed_in(account: Account) -> Client:
    client = Client()
    client.force_login(account)
    return client


def needs_session(page: Page) -> bool:
    return not page.route.startswith(WITHOUT_A_SESSION)


def of_an_object(objects: dict[str, Any]) -> list[Page]:
    return [page for page in pages(objects) if page.has_object and needs_session(page)]


def opens(client: Client, page: Page) -> bool:
    """Also a redirect from a page to another, and a page that is for POST alone."""
    answer = client.get(page.path)
    is_elsewhere = answer.status_code == 302 and not answer["Location"].startswith("/account/sign-in/")
    return is_elsewhere or answer.status_code in {200, 405}


def test_nobody_opens_a_page_without_a_session(objects: dict[str, Any]) -> None:
    for page in filter(needs_session, pages(objects)):
        for answer in (Client().get(page.path), Client().post(page.path)):
            assert answer.status_code == 302, page
            assert answer["Location"].startswith("/account/sign-in/?next="), page


def test_a_credential_of_the_api_opens_no_page(objects: dict[str, Any]) -> None:
    api = Api.as_person(PersonFactory())
    for page in filter(needs_session, pages(objects)):
        assert api.get(page.path).status == 302, page


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
    for page in of_an_object(objects):
        if page.route.startswith(OF_MODERATORS):
            assert opens(client, page), page
        else:
            assert client.get(page.path).status_code in {404, 405}, page


def test_a_session_that_was_ended_opens_no_page(objects: dict[str, Any]) -> None:
    person = PersonFactory()
    client = signed_in(person)
    assert client.get("/account/").status_code == 200
    person.end_sessions()
    person.save(update_fields=["sessions_valid_from"])
    assert client.get("/account/").status_code == 302


def test_a_page_that_takes_a_form_refuses_one_of_another_site(objects: dict[str, Any]) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(PersonFactory())
    for page in filter(needs_session, pages(objects)):
        assert client.post(page.path, headers={"Origin": "https://evil.example"}).status_code in (403, 405), page
