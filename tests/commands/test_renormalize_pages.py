from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO
from itertools import count
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client

from kernel.cache.versions import snapshot
from kernel.changes.streams.opening import Source, open_stream
from kernel.database.sql import database_now
from messaging.cache_tags import message_tag, page_tag
from messaging.management.commands import renormalize_pages
from messaging.models import Message, MovedPage, Page, Pin
from messaging.pages import moving
from messaging.pages.moving import PageBusy, move_page
from messaging.pages.page_ids import normalize
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Api
from tests.commands.running import refused, run, run_json
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.messaging.test_derived_rows import check as check_derived_rows
from tests.sessions import WAIT_SECONDS, in_background, wait_until_another_waits
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db
OLD_ID = "p1_" + "a" * 32
OLD_URL, NEW_URL = "https://example.com/a?PHPSESSID=1", "https://example.com/a"
NEW_ID = normalize(NEW_URL).page_id


@pytest.fixture
def old() -> Page:
    """A page with an id of earlier rules."""
    return Page.objects.create(id=OLD_ID, normalized_url=OLD_URL)


def listed(page_id: str, **query: Any) -> list[str]:
    response = Api().get("/api/messages", pageId=page_id, **query)
    assert response.status == 200
    return [record["id"] for record in response.json["messages"]]


def post(agent: TokenHolder, **fields: Any) -> Any:
    return agent.api.post("/api/messages", {"pageId": OLD_ID, "content": "Hi"} | fields)


def test_dry_run_prints_the_new_id_and_moves_nothing() -> None:
    for arguments in ((), ("--dry-run", "--apply")):
        assert "--dry-run" in refused("renormalize_pages", *arguments), "exactly one is required"
    # A page with the id of the current rules does not differ.
    PageFactory()
    assert run("renormalize_pages", "--dry-run").splitlines() == ["0 pages would get another id."]
    assert run("renormalize_pages", "--apply").splitlines() == ["0 pages had another id."]
    MessageFactory(page=Page.objects.create(id=OLD_ID, normalized_url=OLD_URL))
    expected = {"pageId": OLD_ID, "url": OLD_URL, "newPageId": NEW_ID, "newUrl": NEW_URL}
    assert run_json("renormalize_pages", "--dry-run", "--json") == expected
    output = run("renormalize_pages", "--dry-run")
    assert OLD_ID in output
    assert "1 pages would get another id." in output
    assert (Page.objects.filter(pk=OLD_ID).exists(), Message.objects.get().page_id) == (True, OLD_ID)


def test_pages_of_several_batches_are_each_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renormalize_pages, "BATCH", 2)
    for number in range(5):
        Page.objects.create(id=f"p1_{number:032}", normalized_url=f"https://example.com/{number}?PHPSESSID=1")
    assert "5 pages would get another id." in run("renormalize_pages", "--dry-run")


def test_a_page_with_a_refused_url_is_reported_and_stays(old: Page) -> None:
    for url in ("gopher://example.com/", "https://example.com/" + "%C3%A9" * 340):
        Page.objects.update(normalized_url=url)
        for option in ("--dry-run", "--apply"):
            assert run_json("renormalize_pages", option, "--json")["problem"]
            assert Page.objects.get().pk == OLD_ID


def test_a_stopped_run_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        url = f"https://example.com/{number}?PHPSESSID=1"
        MessageFactory(page=Page.objects.create(id=f"p1_{str(number + 2) * 32}", normalized_url=url))
    posts, pages = set(Message.objects.values_list("pk", flat=True)), count()

    def stopping(page: Page) -> int:
        if next(pages) == 2:
            raise KeyboardInterrupt
        return move_page(page)

    monkeypatch.setattr(renormalize_pages, "PROGRESS_EVERY", 1)
    monkeypatch.setattr(renormalize_pages, "move_page", stopping)
    with pytest.raises(KeyboardInterrupt):
        run("renormalize_pages", "--apply")
    assert MovedPage.objects.count() == 2
    progress = StringIO()
    call_command("renormalize_pages", "--apply", stdout=StringIO(), stderr=progress)
    assert "3 pages read, 3 differ" in progress.getvalue()
    assert MovedPage.objects.count() == 5
    assert set(Message.objects.filter(page__normalized_url__endswith="?PHPSESSID=1").values_list("pk")) == set()
    assert set(Message.objects.values_list("pk", flat=True)) == posts
    assert run("renormalize_pages", "--apply").splitlines() == ["0 pages had another id."]


def test_all_posts_move_and_both_page_ids_list_them(old: Page) -> None:
    first = MessageFactory(page=old)
    reply = MessageFactory(parent=first, quote=first)
    hidden = MessageFactory(page=old, status="hidden")
    other = MessageFactory()
    assert run_json("renormalize_pages", "--apply", "--json")["posts"] == 3
    moved = Message.objects.filter(page=NEW_ID).values_list("id", flat=True)
    assert {*moved} == {first.pk, reply.pk, hidden.pk}
    assert not Page.objects.filter(pk=OLD_ID).exists()
    other.refresh_from_db()
    assert other.page_id not in (OLD_ID, NEW_ID)
    for page_id in (OLD_ID, NEW_ID):
        assert listed(page_id) == [str(first.pk)]
        assert listed(page_id, parentId=first.pk) == [str(reply.pk)]
    assert Api().get(f"/api/messages/{first.pk}").json["pageId"] == NEW_ID
    assert run("renormalize_pages", "--apply").splitlines() == ["0 pages had another id."], "safe to run twice"


RENAMED = {
    "https://example.com/cafe%CC%81/%E1%84%80%E1%85%A1?x=1": "https://example.com/caf%C3%A9/%EA%B0%80?x=1",
    "https://example.com/#!/cafe%CC%81": "https://example.com/#!/caf%C3%A9",
    "https://blog-example.translate.goog/a?_x_tr_sl=de&_x_tr_tl=en": "https://blog.example/a",
    "https://blog.example/a?_x_tr_hist=true": "https://blog.example/a",
    "https://web.archive.org/web/2020/http:/blog.example/a?x=1": "https://blog.example/a?x=1",
    "https://via.hypothes.is/https:/blog.example/a": "https://blog.example/a",
    "https://blog.example/a?from=timeline&isappinstalled=0&replytocom=1": "https://blog.example/a",
    "https://blog.example/a?amp;utm_source=x&x=1": "https://blog.example/a?x=1",
}


def test_stored_addresses_of_earlier_rules_get_the_ids_of_this_release() -> None:
    for number, url in enumerate(RENAMED):
        Page.objects.create(id=f"p1_{number:032}", normalized_url=url)
    listed = [json.loads(line) for line in run("renormalize_pages", "--dry-run", "--json").splitlines()]
    assert {record["url"]: record["newUrl"] for record in listed} == RENAMED


@pytest.mark.parametrize("has_new_page", [False, True])
@pytest.mark.parametrize(("stored", "url"), [*RENAMED.items()][::4])
def test_a_page_that_earlier_rules_named_otherwise_moves_with_all_that_it_has(
    stored: str, url: str, has_new_page: bool
) -> None:
    """All that takes the id of a page answers for the old id as for the new one."""
    community, moderator = CommunityFactory(), SuperAdminFactory()
    page, other = Page.objects.create(id=OLD_ID, normalized_url=stored), MessageFactory(community=community)
    post = MessageFactory(page=page, community=community, author=moderator)
    MessageFactory(parent=post, community=community)
    pending = MessageFactory(page=page, community=community, status="pending")
    api, moderated = Api.as_person(moderator), "/v1/moderation"
    written = (
        api.post("/v1/reactions", {"messageId": str(post.pk), "emoji": "👍"}),
        api.post(f"{moderated}/messages/{post.pk}/pin"),
        api.post(f"{moderated}/communities/{community.pk}/closed", {"pageId": OLD_ID}),
    )
    assert [answer.status for answer in written] == [200] * 3
    new_id, posts = normalize(url).page_id, [str(post.pk)]
    if has_new_page:
        posts.insert(0, str(MessageFactory(page=PageFactory(url=url), community=community).pk))
    assert run_json("renormalize_pages", "--apply", "--json")["newUrl"] == url

    def read(page_id: str) -> list[Any]:
        names = (
            *("/api/messages", "/v1/presence/participants", "/v1/me/reactions"),
            *(f"{moderated}/queue?state=pending", "/v1/search?q=Post"),
        )
        answers = [api.get(f"{name}{'&' if '?' in name else '?'}pageId={page_id}") for name in names]
        answers.append(api.get(f"/v1/communities/{community.pk}/pages/{page_id}"))
        answers.append(api.get(f"/v1/changes?pageId={page_id}"))
        assert [answer.status for answer in answers] == [200] * 7
        feed = api.get(f"/feeds/pages/{page_id}.json")
        changes = [change["type"] for change in answers.pop().json["changes"]]
        return [*(answer.json for answer in answers), feed.json["items"], changes]

    listed, participants, reactions, queue, _found, discussion, items, changes = read(OLD_ID)
    assert read(OLD_ID) == read(new_id)
    assert [message["id"] for message in listed["messages"]] == posts
    assert (len(participants["participants"]), len(reactions["reactions"])) == (2 + has_new_page, 1)
    assert [message["id"] for message in queue["messages"]] == [str(pending.pk)]
    assert (discussion["closed"], len(items), Pin.objects.get().page_id) == (True, 2 + has_new_page, new_id)
    assert changes == ["reaction.added"]
    counts = api.post("/v1/presence/counts", {"urls": [url]}).json["counts"][0]
    assert (counts["posts"], counts["replies"]) == (1 + has_new_page, 1)
    other.refresh_from_db()
    assert other.page_id not in (OLD_ID, new_id)
    check_derived_rows()


def test_an_existing_target_page_lists_the_posts_of_all_pages_newest_first(old: Page) -> None:
    pages = [old, PageFactory(url=NEW_URL), Page.objects.create(id="p1_" + "b" * 32, normalized_url=OLD_URL + "2")]
    posts = [MessageFactory(page=pages[number % 3]) for number in range(7)]
    newest_first = [str(message.pk) for message in reversed(posts)]
    first_page = Api().get("/api/messages", pageId=OLD_ID, limit=2).json
    run("renormalize_pages", "--apply")
    for page in pages:
        assert listed(page.pk) == newest_first
    assert Page.objects.get().pk == NEW_ID
    # A cursor from before the move stays valid.
    assert [record["id"] for record in first_page["messages"]] == [newest_first[0], newest_first[3]]
    assert listed(OLD_ID, cursor=first_page["nextCursor"]) == newest_first[4:]
    # A page that an older release issued again moves again.
    MessageFactory(page=Page.objects.create(id=OLD_ID, normalized_url=OLD_URL))
    run("renormalize_pages", "--apply")
    assert len(listed(OLD_ID)) == len(listed(NEW_ID)) == 8


def test_a_post_with_the_old_page_id_is_stored_on_the_new_page(old: Page) -> None:
    first, agent = MessageFactory(page=old), agent_with_token()
    run("renormalize_pages", "--apply")
    for response in (post(agent), post(agent, parentId=str(first.pk)), post(agent, quoteId=str(first.pk))):
        assert (response.status, response.json["pageId"]) == (201, NEW_ID)
    assert not Message.objects.exclude(page=NEW_ID).exists()


def test_the_changes_of_a_moved_page_follow_it_in_order(old: Page) -> None:
    agent = agent_with_token()
    first = post(agent).json
    agent.api.post("/v1/reactions", {"messageId": first["id"], "emoji": "👍"})
    other = agent.api.post("/api/messages", {"pageId": PageFactory().pk, "content": "Elsewhere"}).json
    run("renormalize_pages", "--apply")
    second = post(agent).json
    changes = Api().get("/v1/changes", pageId=NEW_ID).json["changes"]
    expected = [("message.created", first["id"]), ("reaction.added", first["id"]), ("message.created", second["id"])]
    assert [(change["type"], change["messageId"]) for change in changes] == expected
    assert {change["pageId"] for change in changes} == {change["message"]["pageId"] for change in changes} == {NEW_ID}
    (elsewhere,) = Api().get("/v1/changes", pageId=other["pageId"]).json["changes"]
    assert elsewhere["messageId"] == other["id"]


@pytest.mark.django_db(transaction=True)
def test_a_cursor_of_changes_from_before_the_move_stays_valid(old: Page) -> None:
    """Under the old id nothing is missed. Under the new one, moved changes may be before the cursor: not announced."""
    agent = agent_with_token()
    first, second = post(agent).json["id"], post(agent).json["id"]
    other = post(agent, pageId=PageFactory(url=NEW_URL).pk).json["id"]
    cursors = {OLD_ID: changes(OLD_ID, limit=1)[1], NEW_ID: changes(NEW_ID)[1]}
    run("renormalize_pages", "--apply")
    third = post(agent).json["id"]
    assert changes(OLD_ID, cursor=cursors[OLD_ID])[0] == [second, other, third]
    assert changes(NEW_ID, cursor=cursors[NEW_ID])[0] == [third]
    assert changes(OLD_ID)[0] == changes(NEW_ID)[0] == [first, second, other, third]
    _, end = changes(OLD_ID)
    assert changes(OLD_ID, cursor=end)[0] == []
    fourth = post(agent).json["id"]
    assert changes(OLD_ID, cursor=end)[0] == [fourth]


def changes(page_id: str, **query: Any) -> tuple[list[str], str]:
    """(the posts of the changes, nextCursor)."""
    response = Api().get("/v1/changes", pageId=page_id, **query)
    assert response.status == 200, response.json
    return [change["messageId"] for change in response.json["changes"]], response.json["nextCursor"]


def test_a_stream_of_the_old_id_follows_the_new_page(old: Page, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.STREAM_URL, sources = "https://streams.example", []

    def opened(request: Any, query: Any, source: Source) -> Any:
        sources.append(source)
        return open_stream(request, query, source)

    monkeypatch.setattr("messaging.changes.views.open_stream", opened)
    cursor = changes(OLD_ID)[1]
    run("renormalize_pages", "--apply")
    assert Api().get("/v1/changes/stream", pageId=OLD_ID, cursor=cursor).status == 307
    assert sources[0].channel.page_id == NEW_ID


def test_the_events_of_inboxes_follow_a_moved_page(old: Page) -> None:
    agent, author = agent_with_token(), PersonFactory()
    reply = post(agent, parentId=str(MessageFactory(page=old, author=author).pk)).json
    run("renormalize_pages", "--apply")
    (event,) = Api.as_person(author).get("/v1/inbox").json["events"]
    assert (event["type"], event["messageId"], event["pageId"]) == ("reply", reply["id"], NEW_ID)


def test_redirects_follow_a_second_move_and_end_when_a_page_moves_back(old: Page) -> None:
    MessageFactory(page=old)
    newer = Page.objects.create(id="p1_" + "b" * 32, normalized_url=OLD_URL)
    moving._move(OLD_ID, newer.pk)
    moving._move(newer.pk, PageFactory(url=NEW_URL).pk)
    assert len(listed(OLD_ID)) == len(listed(newer.pk)) == len(listed(NEW_ID)) == 1
    Page.objects.create(id=OLD_ID, normalized_url=OLD_URL)
    moving._move(NEW_ID, OLD_ID)
    assert len(listed(OLD_ID)) == len(listed(newer.pk)) == len(listed(NEW_ID)) == 1
    assert not MovedPage.objects.filter(old_id=OLD_ID).exists()


def test_the_old_id_of_a_pruned_page_is_unknown_until_the_page_is_issued(old: Page) -> None:
    run("renormalize_pages", "--apply")
    Page.objects.update(created_at=database_now() - timedelta(days=31))
    run("prune")
    agent = agent_with_token()
    assert (post(agent).error, listed(OLD_ID)) == ("unknown_page", [])
    Api().post("/v1/presence/normalize-url", {"url": NEW_URL})
    assert post(agent).json["pageId"] == NEW_ID


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("tags_max", [moving.TAGS_MAX, 0])
def test_a_move_invalidates_responses_of_both_pages_and_the_posts(
    old: Page, tags_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "TAGS_MAX", tags_max)
    message = MessageFactory(page=old)
    tags = (page_tag(OLD_ID), page_tag(NEW_ID), message_tag(message.pk))
    snapshots = [snapshot(tag) for tag in tags]
    move_page(old)
    assert [taken and taken.is_valid() for taken in snapshots] == [False] * 3
    response: Any = Client().get("/api/messages", {"pageId": OLD_ID})
    assert set(response.cache_snapshot.tags) >= {page_tag(OLD_ID), page_tag(NEW_ID)}


@pytest.mark.django_db(transaction=True)
def test_concurrent_writes_to_the_old_page_are_stored_on_the_new_page(old: Page) -> None:
    first, agents = MessageFactory(page=old), [agent_with_token(), agent_with_token()]
    PageFactory(url=NEW_URL)
    for agent, fields in zip(agents, ({}, {"parentId": str(first.pk)}), strict=True):
        Page.objects.get_or_create(id=OLD_ID, normalized_url=OLD_URL)
        MovedPage.objects.all().delete()
        Message.objects.update(page=OLD_ID)
        with ThreadPoolExecutor(1) as pool:
            with transaction.atomic():
                moving._move(OLD_ID, NEW_ID)
                writing = in_background(pool, lambda agent=agent, fields=fields: post(agent, **fields))
                wait_until_another_waits()
            written = writing.result(WAIT_SECONDS)
        assert (written.status, written.json["pageId"]) == (201, NEW_ID)
    first.refresh_from_db()
    assert first.reply_count == 1
    assert Message.objects.filter(page=NEW_ID).count() == 3


@pytest.mark.django_db(transaction=True)
def test_a_move_waits_for_a_committing_post_and_moves_it(old: Page) -> None:
    author = PersonFactory()
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            MessageFactory(page=old, author=author)
            with connection.cursor() as cursor:
                # Checks the foreign key and so locks the page, as the commit does.
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            moved = in_background(pool, lambda: move_page(old))
            wait_until_another_waits()
        assert moved.result(WAIT_SECONDS) == 1
    assert Message.objects.get().page_id == NEW_ID


@pytest.mark.django_db(transaction=True)
def test_a_page_that_stays_locked_is_reported_and_not_moved(old: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "TRIES", 1)
    message, pool = MessageFactory(page=old), ThreadPoolExecutor(1)
    with pool, transaction.atomic():
        Page.objects.select_for_update().get(pk=OLD_ID)
        with pytest.raises(PageBusy):
            in_background(pool, lambda: move_page(old)).result(WAIT_SECONDS)
        message_text = in_background(pool, lambda: refused("renormalize_pages", "--apply")).result(WAIT_SECONDS)
    assert message_text == "1 pages were locked by writes and not moved: run this again."
    message.refresh_from_db()
    assert message.page_id == OLD_ID


@pytest.mark.django_db(transaction=True)
def test_concurrent_writes_and_two_runs_lose_no_post(old: Page) -> None:
    first, agents = MessageFactory(page=old), [agent_with_token() for _ in range(3)]
    start = threading.Barrier(3)

    def write(agent: TokenHolder) -> list[int]:
        start.wait()
        bodies = ({} if turn % 2 else {"parentId": str(first.pk)} for turn in range(20))
        return [post(agent, **body).status for body in bodies]

    with ThreadPoolExecutor(5) as pool:
        writing = [in_background(pool, lambda agent=agent: write(agent)) for agent in agents]
        runs = [in_background(pool, lambda: run("renormalize_pages", "--apply", "--json")) for _ in range(2)]
        statuses = [status for future in writing for status in future.result(PATIENCE_SECONDS)]
        records = [json.loads(line) for future in runs for line in future.result(PATIENCE_SECONDS).splitlines()]
    assert statuses == [201] * 60
    assert all("posts" in record for record in records)
    first.refresh_from_db()
    assert first.reply_count == 30
    assert Message.objects.filter(page=NEW_ID).count() == 61
    assert not Page.objects.filter(pk=OLD_ID).exists()
