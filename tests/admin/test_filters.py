"""The filters of lists: few links of communities, and dates that do not read the whole table."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from messaging.models import Community, Message
from tests.admin.pages import page, read
from tests.factories import CommunityFactory, MessageFactory

pytestmark = pytest.mark.django_db
CHOSEN = "community__id__exact"


class TestCommunities:
    @pytest.fixture
    def communities(self) -> list[Community]:
        made = [Community(name=f"C {n:03}", slug=f"c-{n}", blocked_words=["word"]) for n in range(200)]
        return Community.objects.bulk_create(made)

    def linked(self, text: str) -> list[str]:
        (links,) = re.findall(r'<details data-filter-title="community".*?</details>', text, re.DOTALL)
        return re.findall(rf'href="\?[^"]*{CHOSEN}=([^"&]+)', links)

    def test_links_are_few_and_no_word_list_is_read(self, admin_client: Client, communities: list[Community]) -> None:
        first, last = communities[0], communities[-1]
        posts = [MessageFactory(community=community) for community in (first, last)]
        first_links = [str(community.pk) for community in communities[:50]]
        for query, links in (
            ({}, first_links),
            ({CHOSEN: str(first.pk)}, first_links),
            ({CHOSEN: str(last.pk)}, [*first_links, str(last.pk)]),
        ):
            with CaptureQueriesContext(connection) as captured:
                text = read(admin_client, Message, "changelist", **query)
            assert self.linked(text) == links
            assert not [sql["sql"] for sql in captured if "blocked_words" in sql["sql"]]
        assert posts[1].content in text
        assert posts[0].content not in text
        assert re.search(rf'<li class="selected">\s*<a href="[^"]*{last.pk}', text)

    def test_a_post_reached_from_a_filtered_list_reads_no_word_list(
        self, admin_client: Client, communities: list[Community]
    ) -> None:
        post = MessageFactory(community=communities[-1], status="pending")
        with CaptureQueriesContext(connection) as captured:
            assert (
                admin_client.get(page(post), {"_changelist_filters": f"{CHOSEN}={post.community_id}"}).status_code
                == 200
            )
        assert not [sql["sql"] for sql in captured if "blocked_words" in sql["sql"]]

    @pytest.mark.parametrize("value", ["", "nonsense", "9" * 5_000, "-1"])
    def test_an_invalid_id_leads_back_to_the_list(self, admin_client: Client, value: str) -> None:
        CommunityFactory()
        response = admin_client.get(page(Message, "changelist"), {CHOSEN: value})
        assert (response.status_code, response.headers["Location"]) == (302, f"{page(Message, 'changelist')}?e=1")

    def test_an_unknown_id_is_an_empty_list(self, admin_client: Client) -> None:
        post = MessageFactory(community=CommunityFactory())
        text = read(admin_client, Message, "changelist", **{CHOSEN: str(uuid4())})
        assert post.content not in text

    def test_the_page_of_a_community_links_to_its_posts(self, admin_client: Client) -> None:
        community = CommunityFactory()
        assert f"{page(Message, 'changelist')}?{CHOSEN}={community.pk}" in read(admin_client, community)
