"""The number of queries of a page does not depend on the number of rows, and no page is large."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.services import cancel_request
from messaging.models import Account, Community
from tests.account_area.world import objects_of, pages
from tests.api import Api
from tests.factories import MessageFactory

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
# What a page may need once more than before: counts that were cached, or a part that an empty list does not have.
SPARE = 1
# Before images, which are requests of their own.
PAGE_MAX_BYTES = 100_000


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


def test_more_rows_need_no_more_queries(client: Client, person: Account, settings: Any) -> None:
    settings.WEBHOOKS = True
    objects = objects_of(person)
    community = Community.objects.get(slug=objects["slug"])
    fill(person, community)
    few = queries_of(client, objects)
    for _ in range(4):
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
