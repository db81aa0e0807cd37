"""The filters of lists: few links of communities, and dates that do not read the whole table."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from messaging.models import Community, Message
from reactions.models import Reaction
from tests.admin.pages import page, read
from tests.factories import CommunityFactory, MessageFactory
from tests.plans import plan_of, rows_read

pytestmark = pytest.mark.django_db
CHOSEN = "community__id__exact"
ROWS = 20_000
POSTS = """
INSERT INTO messaging_message
    (id, page_id, author_id, author_kind, status, content, attachments, reply_count, quote_count, reaction_counts,
     reaction_total, created_at, updated_at)
SELECT uuidv7(-n * interval '1 hour'), %(page)s, %(author)s, 'human', 'published', 'Post', '[]', 0, 0, '{}', 0,
    now() - n * interval '1 hour', now()
FROM generate_series(1, %(rows)s) n
"""
REACTIONS = """
INSERT INTO reactions_reaction (id, message_id, account_id, emoji, created_at)
SELECT uuidv7(created_at - now()), id, author_id, '👍', created_at FROM messaging_message
"""


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


class TestDates:
    @pytest.fixture
    def post(self) -> Message:
        """The newest of many posts, of an hour each. Each has a reaction."""
        post: Message = MessageFactory()
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(POSTS, {"page": post.page_id, "author": post.author_id, "rows": ROWS})
            cursor.execute(REACTIONS)
            cursor.execute("SET LOCAL session_replication_role = DEFAULT")
            cursor.execute("ANALYZE messaging_message, reactions_reaction")
        return post

    def rows_read(self, admin_client: Client, path: str, table: str) -> list[int]:
        """By each statement of a page that reads the table in the order of the list, or by time."""
        with CaptureQueriesContext(connection) as captured:
            response = admin_client.get(path)
            assert response.status_code == 200
            b"".join(response.streaming_content) if response.streaming else None  # type: ignore[attr-defined]
        read = [sql["sql"] for sql in captured if f'FROM "{table}"' in sql["sql"]]
        listing = [sql for sql in read if "created_at" in sql.partition("WHERE")[2] or "ORDER BY" in sql]
        assert listing
        return [rows_read(plan_of(sql), table) for sql in listing]

    @pytest.mark.parametrize("days", [0, 7])
    def test_a_date_reads_no_older_rows(self, admin_client: Client, post: Message, days: int) -> None:
        """Nor does the CSV, which is in ascending order."""
        today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
        since = today - timedelta(days=days)
        query = urlencode({"created_at__gte": str(since), "created_at__lt": str(today + timedelta(days=1))})
        posts = page(Message, "changelist")
        for path, table in (
            (f"{posts}?{query}", "messaging_message"),
            (f"{posts}csv/?{query}", "messaging_message"),
            (f"{page(Reaction, 'changelist')}?{query}", "reactions_reaction"),
        ):
            assert max(self.rows_read(admin_client, path, table)) < ROWS / 50, path

    @pytest.mark.parametrize("column", range(1, 9))
    def test_no_order_reads_the_whole_table(self, admin_client: Client, post: Message, column: int) -> None:
        for direction, (model, table) in (
            ("", (Message, "messaging_message")),
            ("-", (Message, "messaging_message")),
            ("", (Reaction, "reactions_reaction")),
        ):
            path = f"{page(model, 'changelist')}?o={direction}{column}"
            assert max(self.rows_read(admin_client, path, table)) < ROWS / 50, path

    def test_only_the_age_is_sortable(self, admin_client: Client) -> None:
        newer = [MessageFactory(), MessageFactory()]
        shown = admin_client.get(page(Message, "changelist"), {"o": "7"}).context["cl"]
        assert list(shown.result_list) == newer
        text = read(admin_client, Message, "changelist")
        assert re.findall(r'<th scope="col" class="[^"]*sortable column-(\w+)', text) == ["posted"]

    def test_a_row_is_found_by_its_time(self, admin_client: Client) -> None:
        """The time of an imported post may be earlier than that of its id; clocks of hosts may be behind."""
        now = timezone.now()
        ages = {"of now": timedelta(), "of an import": timedelta(days=40), "ahead of its id": -timedelta(hours=20)}
        for content, age in ages.items():
            Message.objects.filter(pk=MessageFactory(content=content).pk).update(created_at=now - age)
        for since, found in (
            (now - timedelta(hours=1), {"of now", "ahead of its id"}),
            (now + timedelta(hours=19), {"ahead of its id"}),
            (now - timedelta(days=41), set(ages)),
        ):
            assert self.found(admin_client, created_at__gte=str(since)) == found
        assert self.found(admin_client, created_at__lt=str(now - timedelta(days=1))) == {"of an import"}

    @pytest.mark.parametrize("since", ["1969-01-01T00:00Z", "0001-01-01T00:00+14:00"])
    def test_times_without_an_id_are_no_bound(self, admin_client: Client, since: str) -> None:
        MessageFactory(content="of now")
        assert self.found(admin_client, created_at__gte=since) == {"of now"}

    @pytest.mark.parametrize("since", ["nonsense", "", "9999-99-99"])
    def test_an_invalid_time_leads_back_to_the_list(self, admin_client: Client, since: str) -> None:
        response = admin_client.get(page(Message, "changelist"), {"created_at__gte": since})
        assert (response.status_code, response.headers["Location"]) == (302, f"{page(Message, 'changelist')}?e=1")

    def found(self, admin_client: Client, **query: Any) -> set[str]:
        response = admin_client.get(page(Message, "changelist"), query)
        assert response.status_code == 200
        return {row.content for row in response.context["cl"].result_list}
