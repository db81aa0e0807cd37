"""What public reads cost with the worst texts, compared with prose of the same length."""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from django.test.client import Client

from messaging.markdown import html
from messaging.models import Rendering
from messaging.models.message import CONTENT_MAX
from tests.api import HANDLER
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory
from tests.fuzz.slow import worst_found

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
PROSE = "Words follow words here, and end with a stop. "
WORST = ["- a\n", "- - - - a\n", "[a](", "@somebody_1 ", "<", "https://x.org/" + "(" * 1_986 + " "]
# Twice, as measured; it was twenty times.
TIMES = 4
POSTS = 60


def paths(text: str) -> Iterator[str]:
    """The public reads of a page with this text in each post, reply and quote."""
    page, community, author = PageFactory(), CommunityFactory(), PersonFactory()
    posts = [
        MessageFactory(page=page, community=community, author=author, content=f"{number} {text}"[:CONTENT_MAX])
        for number in range(POSTS)
    ]
    deepest = posts[0]
    for post in posts[1:]:
        MessageFactory(parent=posts[0], quote=post, community=community, author=author, content=post.content)
        deepest = MessageFactory(parent=deepest, community=community, author=author, content="Deep")
    yield from (f"/feeds/pages/{page.pk}.{extension}" for extension in ("atom", "json"))
    yield f"/feeds/communities/{community.slug}.atom"
    yield from (f"/p/{post.pk}" for post in (posts[0], posts[1], deepest))
    yield f"/api/messages/{deepest.pk}"
    for query in ({}, {"includeTopReply": "true"}, {"sort": "reactions"}, {"parentId": str(posts[0].pk)}):
        yield f"/api/messages?{urlencode({'pageId': page.pk, 'limit': 100} | query)}"
    yield f"/v1/search?{urlencode({'q': f'and {text}'[:200], 'pageId': page.pk})}"


def costs(text: str) -> list[float]:
    """The processor time of each read, the least of three by a process that knows no text."""
    client, found = Client(), []
    client.handler = HANDLER
    for path in paths(text):
        times = []
        for _ in range(3):
            html.rendered.cache_clear()
            Rendering.objects.all().delete()
            began = time.process_time()
            assert client.get(path).status_code == 200, path
            times.append(time.process_time() - began)
        found.append(min(times))
    return found


def test_no_text_makes_a_read_much_dearer_than_prose_makes_the_dearest() -> None:
    prose = max(costs(PROSE * (CONTENT_MAX // len(PROSE))))
    for part in [*WORST, *(part for parts in worst_found().values() for part in parts[:1])]:
        assert max(costs(part * CONTENT_MAX)) < TIMES * prose, part
