"""Actions on the author of a post lead back to the list of posts, with its filters."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client, RequestFactory

from config.admin.returning import return_url, returning
from messaging.models import Ban, Message
from messaging.services.people import suspend_person
from tests.admin.pages import page
from tests.factories import CommunityFactory, MessageFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
QUERY = "status__exact=pending&q=herring"


def links(client: Client) -> dict[str, str]:
    text = client.get(f"{page(Message, 'changelist')}?{QUERY}").content.decode()
    block = re.findall(r'<p class="author-actions">(.*?)</p>', text, re.DOTALL)[0]
    return {name: unescape(url) for url, name in re.findall(r'<a href="([^"]+)">([^<]+)…</a>', block)}


def test_actions_on_the_author_lead_back_to_the_row_in_the_list(admin_client: Client) -> None:
    message = MessageFactory(status="pending", content="Herring", community=CommunityFactory(name="Harbour"))
    place = f"{page(Message, 'changelist')}?{QUERY}#row-{message.pk}"
    for name in ("Ban the author from Harbour", "Lift the ban from Harbour", "Suspend", "Unsuspend"):
        url = links(admin_client)[name]
        assert f'href="{place.replace("&", "&amp;")}"' in admin_client.get(url).content.decode(), name
        assert admin_client.post(url, {"reason": "x"})["Location"] == place, name
    assert not Ban.objects.exists()
    hide = links(admin_client)["Hide all posts of the author"]
    assert admin_client.post(hide, {"reason": "x"})["Location"] == place
    message.refresh_from_db()
    assert message.status == "hidden"


def test_a_suspended_author_is_not_suspended_again(admin_client: Client) -> None:
    message = MessageFactory(status="pending", content="Herring")
    suspend_person(person=message.author, by=SuperAdminFactory(), reason="x")
    assert list(links(admin_client)) == ["Unsuspend", "Hide all posts of the author"]


@pytest.mark.parametrize(
    "place",
    [
        *("https://evil.example/admin/messaging/message/", "//evil.example/admin/messaging/message/", "/admin/"),
        *("/admin/messaging/message/x/", "/api/messages", "javascript:alert(1)", "//[", "", "/\\evil.example"),
    ],
)
def test_a_page_leads_back_to_lists_of_the_admin_only(place: str) -> None:
    assert return_url(RequestFactory().get(returning("/admin/", to=place))) == ""
