"""Triggers derive counts and search entries from posts: they always equal the posts, also after concurrent changes."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from messaging.models import CommunityCount, Message, MessageStatus, Page, PageCommunityCount, PageCount, SearchEntry
from messaging.moderation.queries import ids_of_unpublished
from messaging.moderation.services import hide_message, restore_message
from messaging.pages.moving import move_page
from tests.agents.racing import race
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.hiding import hide_posts_of, restore_posts_of

MORE_SCRIPTS = import_module("messaging.migrations.0057_search_in_more_scripts")
FILL = import_module("messaging.migrations.0012_derive_from_earlier_posts")
COUNT_EARLIER = import_module("messaging.migrations.0054_count_earlier_posts_of_communities").COUNT
OLD_ID = "p1_" + "a" * 32

# (page or community, posts, replies) by the counts and by the posts; no rows where all are zero.
COUNTED = """
SELECT {owner}::text, sum(posts), sum(replies) FROM messaging_{table}
GROUP BY 1 HAVING sum(posts) <> 0 OR sum(replies) <> 0 ORDER BY 1
"""
TRUE = """
SELECT {owner}::text, count(*) - count(parent_id), count(parent_id) FROM messaging_message
WHERE status = 'published' AND NOT in_hidden_thread AND {owner} IS NOT NULL GROUP BY 1 ORDER BY 1
"""
ENTRIES = """
SELECT message_id, page_id, community_id, created_at, words FROM messaging_searchentry ORDER BY message_id
"""
TRUE_ENTRIES = """
SELECT id, page_id, community_id, created_at, messaging_search_words(content, payload) FROM messaging_message
WHERE status = 'published' AND NOT in_hidden_thread ORDER BY id
"""


def rows(statement: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def is_in_hidden_thread(message: Message, by_id: dict[Any, Message]) -> bool:
    parent = by_id.get(message.parent_id)
    return parent is not None and (parent.status in {"hidden", "pending"} or is_in_hidden_thread(parent, by_id))


def check_threads() -> None:
    """The columns of threads are those of the definition. A hidden or pending post gets its own when it is decided."""
    messages = list(Message.objects.all())
    by_id = {message.pk: message for message in messages}
    for message in messages:
        assert message.is_tombstone == (message.status == "deleted" and message.reply_count > 0)
        if message.status in {"published", "deleted"}:
            assert message.in_hidden_thread == is_in_hidden_thread(message, by_id)


def check() -> None:
    check_threads()
    for table, owner in (
        ("pagecount", "page_id"),
        ("communitycount", "community_id"),
        ("pagecommunitycount", "(page_id || ' ' || community_id)"),
    ):
        counted = rows(COUNTED.format(table=table, owner=owner))
        assert counted == rows(TRUE.format(owner=owner))
    assert rows(ENTRIES) == rows(TRUE_ENTRIES)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "reply", "status", "content", "payload", "delete", "count"]),
        st.integers(0, 5),
        st.sampled_from(list(MessageStatus)),
    ),
    max_size=25,
)


@pytest.mark.django_db
@hypothesis_settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_the_rows_equal_the_posts_after_any_changes(steps: list[tuple[str, int, MessageStatus]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM messaging_message")
    check()
    pages, communities = [PageFactory(), PageFactory()], [CommunityFactory(), None]
    messages: list[Message] = []
    for what, number, status in steps:
        message = messages[number % len(messages)] if messages else None
        if what == "insert" or message is None:
            where = {"page": pages[number % 2], "community": communities[number % 2]}
            messages.append(MessageFactory(**where, status=status, content=f"text {number}"))
        elif what == "reply":
            messages.append(MessageFactory(parent=message, community=message.community, status=status))
        elif what == "delete":
            if not Message.objects.filter(parent=message).exists():
                messages.remove(message)
                Message.objects.filter(pk=message.pk).delete()
        else:
            changes: dict[str, Any] = {
                "status": {"status": status},
                "content": {"content": f"changed {number}"},
                "payload": {"payload": {"x": f"word {number}"}, "tag_type": "note"},
                "count": {"reply_count": number},
            }
            Message.objects.filter(pk=message.pk).update(**changes[what])
    check()


@pytest.mark.django_db
def test_many_posts_of_one_statement_are_counted_in_one_row_for_each_page() -> None:
    author, pages = PersonFactory(), [PageFactory(), PageFactory()]
    Message.objects.bulk_create(
        Message(page=pages[n % 2], author=author, author_kind="human", content=f"post {n}") for n in range(100)
    )
    assert PageCount.objects.count() == 2
    check()


@pytest.mark.django_db
def test_a_change_of_counts_and_a_save_of_equal_values_write_no_entry() -> None:
    """The trigger would write the entry again, and all its words to the index."""
    message = MessageFactory()
    version = rows("SELECT xmin, ctid FROM messaging_searchentry")
    Message.objects.filter(pk=message.pk).update(reply_count=7, reaction_total=3)
    message.refresh_from_db()
    message.save()
    assert rows("SELECT xmin, ctid FROM messaging_searchentry") == version


@pytest.mark.django_db(transaction=True)
def test_concurrent_posts_moderation_and_a_move_leave_exact_rows() -> None:
    old = Page.objects.create(id=OLD_ID, normalized_url="https://e.com/a?PHPSESSID=1")
    admin, community, author = SuperAdminFactory(), CommunityFactory(), PersonFactory()
    mine = [MessageFactory(page=old, author=author, community=community) for _ in range(6)]
    other = MessageFactory(page=old, community=community)
    for message in mine:
        MessageFactory(parent=message, author=author, community=community)

    def post(number: int) -> None:
        api, chance = Api.as_person(PersonFactory()), random.Random(number)
        for _ in range(6):
            parent = chance.choice([None, mine[0]])
            place = {"parentId": str(parent.pk)} if parent else {"communityId": str(community.pk)}
            answer = api.post("/api/messages", {"pageId": OLD_ID, "content": "Hi"} | place)
            # A hidden post has no new replies.
            assert answer.status in {201, 404}, answer.body

    def moderate(number: int) -> None:
        if number % 2:
            hide_posts_of(author=author, by=admin)
            restore_posts_of(author=author, by=admin)
        else:
            hide_message(message_id=other.pk, by=admin)
            restore_message(message_id=other.pk, by=admin)

    race(7, lambda number: move_page(old) if number == 6 else (post if number < 4 else moderate)(number))
    check()
    assert not Message.objects.filter(page_id=OLD_ID).exists()


@pytest.mark.django_db(transaction=True)
def test_the_migration_derives_the_rows_of_earlier_posts_once() -> None:
    community = CommunityFactory()
    post = MessageFactory(community=community, tag_type="note", payload={"x": "word"})
    MessageFactory(parent=post, community=community)
    MessageFactory(status=MessageStatus.HIDDEN)
    for model in (PageCount, CommunityCount, SearchEntry):
        model.objects.all().delete()
    # Written by the triggers, before the migration.
    MessageFactory(page=post.page, community=community)
    for _ in range(2):
        with connection.schema_editor(atomic=False) as editor:
            FILL.derive(None, editor)
        check()


@pytest.mark.django_db(transaction=True)
def test_the_migration_counts_the_earlier_posts_of_communities_on_pages() -> None:
    community, other = CommunityFactory(), CommunityFactory()
    post = MessageFactory(community=community)
    MessageFactory(parent=post, community=community)
    MessageFactory(page=post.page, community=other)
    MessageFactory(page=post.page, community=other, status=MessageStatus.HIDDEN)
    MessageFactory(page=post.page)
    PageCommunityCount.objects.all().delete()
    # The trigger counts this one, before the migration.
    MessageFactory(page=post.page, community=community)
    for _ in range(2):
        with connection.cursor() as cursor:
            cursor.execute(COUNT_EARLIER)
        check()
    assert PageCommunityCount.objects.filter(slot=-1).count() == 2


@pytest.mark.django_db(transaction=True)
def test_the_migration_writes_the_words_of_earlier_posts_and_backwards_those_of_before() -> None:
    posts = [MessageFactory(content=text) for text in ("번역을", "Straße", "plain", "it’s", "don't")]
    posts.append(MessageFactory(content="", tag_type="note", payload={"a": "도박"}))
    held = MessageFactory(content="번역을", status=MessageStatus.PENDING)
    new = words_of(posts)
    with connection.schema_editor(atomic=False) as editor:
        try:
            for statement in (MORE_SCRIPTS.BEFORE.PLAIN_TEXT, MORE_SCRIPTS.SEARCH_WORDS_BEFORE):
                editor.execute(MORE_SCRIPTS.or_replace(statement), None)
            MORE_SCRIPTS.rewrite(None, editor)
            before = words_of(posts)
            assert [post.content for post in posts if before[post.pk] == new[post.pk]] == ["plain"]
        finally:
            editor.execute(MORE_SCRIPTS.PLAIN_TEXT, None)
            editor.execute(MORE_SCRIPTS.SEARCH_WORDS, None)
            editor.execute(MORE_SCRIPTS.REINDEX, None)
        for _ in range(2):
            MORE_SCRIPTS.rewrite(None, editor)
            assert words_of(posts) == new
    assert ids_of_unpublished("번역", limit=9) == {held.pk}
    check()


@pytest.mark.django_db(transaction=True)
def test_the_migration_keeps_the_words_of_a_post_that_is_edited_meanwhile() -> None:
    posts = [MessageFactory(content="tür") for _ in range(20)]
    SearchEntry.objects.update(words="")

    def write(number: int) -> None:
        with connection.schema_editor(atomic=False) as editor:
            if number:
                MORE_SCRIPTS.rewrite(None, editor)
                return
        for post in posts:
            Message.objects.filter(pk=post.pk).update(content="straße")

    race(3, write)
    check()


def words_of(posts: list[Message]) -> dict[UUID, str]:
    return dict(SearchEntry.objects.filter(pk__in=[post.pk for post in posts]).values_list("pk", "words"))


@pytest.mark.django_db(transaction=True)
def test_an_entry_of_a_post_that_was_hidden_or_moved_meanwhile_is_corrected() -> None:
    moved, hidden = MessageFactory(), MessageFactory(status=MessageStatus.HIDDEN)
    SearchEntry.objects.filter(pk=moved.pk).update(page_id=PageFactory().pk)
    SearchEntry.objects.create(message_id=hidden.pk, page_id=hidden.page_id, created_at=hidden.created_at, words="")
    with connection.schema_editor(atomic=False) as editor:
        FILL.derive(None, editor)
    check()


@pytest.mark.django_db(transaction=True)
def test_connections_count_in_slots_of_their_own() -> None:
    """Transactions of different connections do not wait for one another."""
    page = PageFactory()
    author = PersonFactory()
    race(4, lambda _number: MessageFactory(page=page, author=author))
    slots = PageCount.objects.filter(page_id=page.pk)
    assert sum(count.posts for count in slots) == 4
    assert all(0 <= count.slot < 16 for count in slots)
