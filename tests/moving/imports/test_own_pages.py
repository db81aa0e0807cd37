"""An import on the pages of a community writes on the hosts of its own widgets, and blocked words hold posts back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test import Client

from embeds.host_proofs import is_named
from embeds.models import Embed, EmbedStatus
from kernel.jobs.queue import run_due
from messaging.models import Account, Community, Message, MessageStatus, Moderator, Page
from messaging.pages.page_ids import normalize
from moving.models import Move, MoveStatus
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.moving.files import SAMPLES
from tests.moving.imports.importing import import_own, import_posts, site
from tests.moving.imports.test_pages import act, client_of, page_of, path, upload
from tests.moving.writing import Comment, disqus

pytestmark = pytest.mark.django_db
OWN, FOREIGN = "https://harbour.example/a/", "https://victim.example/news/"
ADVICE = "Add the host to the whitelist of the widget"
ON_PAGE = "Add the domain to the site"


@pytest.fixture
def person() -> Account:
    return PersonFactory()


@pytest.fixture
def community(person: Account) -> Community:
    return site(person, "Harbour", hosts=["harbour.example"])


@pytest.fixture
def client(person: Account) -> Client:
    return client_of(person)


@pytest.fixture(autouse=True)
def foreign_page() -> Iterator[None]:
    """A page of another community: its lists and counts never change."""
    victim = site(PersonFactory(), "Victim", hosts=["victim.example"])
    page = normalize(FOREIGN)
    row = PageFactory(id=page.page_id, normalized_url=page.normalized_url)
    MessageFactory(page=row, community=victim, content="Ours")
    before = seen(page.page_id)
    yield
    assert seen(page.page_id) == before


def seen(page_id: str) -> Any:
    listed = Api().get("/api/messages", pageId=page_id).json["messages"]
    counts = Api().post("/v1/presence/counts", {"urls": [FOREIGN]})
    assert [post["content"] for post in listed] == ["Ours"]
    assert counts.status == 200
    return listed, counts.json, Message.objects.filter(page=page_id).count()


def file_of(addresses: Sequence[str], texts: Sequence[str] = ()) -> bytes:
    texts = texts or [f"Post {number}" for number, _address in enumerate(addresses, 1)]
    posts = zip(addresses, texts, strict=True)
    comments = [Comment(number, 0, text, address=address) for number, (address, text) in enumerate(posts, 1)]
    return "".join(disqus(comments, addresses=dict.fromkeys(addresses))).encode()


def imported(client: Client, community: Community, content: bytes, **fields: str) -> Move:
    """The import after each step that its page offers."""
    upload(client, community, content, map="", **fields)
    run_due("imports")
    move = Move.objects.get(community=community)
    if move.can_start:
        act(client, move, "start")
        run_due("imports")
        move.refresh_from_db()
    return move


def report_of(client: Client, move: Move) -> list[dict[str, str]]:
    response: Any = client.get(path(move.community, f"{move.pk}/report/"))
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


def addresses_in(community: Community) -> set[str]:
    return set(Message.objects.filter(community=community).values_list("page__normalized_url", flat=True))


def test_posts_on_foreign_hosts_are_left_out_and_counted_by_host(client: Client, community: Community) -> None:
    other = "https://other.example/"
    move = imported(client, community, file_of([OWN, FOREIGN, f"{FOREIGN}2", other, f"{OWN}2"]))
    assert move.status == MoveStatus.DONE
    assert addresses_in(community) == {"https://harbour.example/a", "https://harbour.example/a/2"}
    rows = report_of(client, move)
    assert [row["source_id"] for row in rows] == ["2", "3", "4", "", ""]
    assert {row["action"] for row in rows} == {"skipped"}
    assert [(row["address"], row["reason"].split(": ")[1].split(".")[0]) for row in rows[3:]] == [
        ("victim.example", "2"),
        ("other.example", "1"),
    ]
    assert all(ADVICE in row["reason"] for row in rows[3:])
    assert (move.counts["skipped"], move.counts["new"]) == (3, 2)
    assert move.counts["elsewhere"] == {"victim.example": 2, "other.example": 1}
    page = page_of(client, move)
    assert page.index("victim.example") < page.index("other.example")
    assert ON_PAGE in page


def test_a_file_of_foreign_hosts_alone_is_refused_before_anything_is_written(
    client: Client, community: Community
) -> None:
    before = Account.objects.count()
    move = imported(client, community, file_of([f"{FOREIGN}{n}" for n in range(202)]))
    assert (move.status, Message.objects.filter(community=community).count()) == (MoveStatus.FAILED, 0)
    assert Account.objects.count() == before
    assert move.error.startswith("All 202 posts are on hosts of no widget here (victim.example)")
    page = page_of(client, move)
    assert ON_PAGE in page
    assert "<b>202</b>" in page
    assert "Upload it again" in page
    assert len(report_of(client, move)) == 203


def test_a_host_that_is_added_to_the_whitelist_lets_the_same_file_in(client: Client, community: Community) -> None:
    content = file_of(["https://new.example/"])
    assert imported(client, community, content).status == MoveStatus.FAILED
    Embed.objects.filter(community=community).update(domain_whitelist=["new.example"])
    move = imported(client, community, content)
    assert (move.status, "elsewhere" in move.counts) == (MoveStatus.DONE, False)
    assert addresses_in(community) == {"https://new.example/"}


def test_a_host_that_is_taken_from_the_whitelist_after_the_check_is_foreign(
    client: Client, community: Community
) -> None:
    upload(client, community, file_of([OWN]), map="")
    run_due("imports")
    Embed.objects.filter(community=community).update(domain_whitelist=[])
    act(client, Move.objects.get(community=community), "start")
    run_due("imports")
    assert Move.objects.get(community=community).status == MoveStatus.FAILED
    assert not Message.objects.filter(community=community).exists()


def test_moved_addresses_are_judged_by_their_new_host(client: Client, community: Community) -> None:
    content = file_of(["https://old.example/x", OWN])
    upload(client, community, content, map="old.example=harbour.example\nharbour.example=victim.example")
    run_due("imports")
    act(client, Move.objects.get(community=community), "start")
    run_due("imports")
    assert addresses_in(community) == {"https://harbour.example/x"}


# By whitelist: addresses that are its own, and others.
HOSTS: dict[str, tuple[list[str], list[str], list[str]]] = {
    "www": (["www.harbour.example"], [OWN, "https://www.harbour.example/b"], ["https://wwwharbour.example/"]),
    "mixed case": (
        ["harbour.example"],
        ["https://HARBOUR.Example/", "HTTP://www.Harbour.EXAMPLE/c"],
        ["https://harbour.example.evil.example/", "https://evil-harbour.example/"],
    ),
    "trailing dot": (["harbour.example"], ["https://harbour.example./d"], ["https://victim.example./"]),
    "userinfo": (
        ["harbour.example"],
        ["https://victim.example@harbour.example/"],
        ["https://harbour.example@victim.example/", "https://harbour.example:80@victim.example/"],
    ),
    "backslash": (["harbour.example"], [], ["https://victim.example\\@harbour.example/"]),
    "any port": (["harbour.example"], ["https://harbour.example:8443/"], []),
    "one port": (
        ["harbour.example:8443"],
        ["https://harbour.example:8443/"],
        [OWN, "https://harbour.example:9443/"],
    ),
    "wildcard": (
        ["*.harbour.example"],
        ["https://blog.harbour.example/", "https://a.b.harbour.example/", "https://www.harbour.example/"],
        ["https://xharbour.example/", "https://victim.example/?harbour.example"],
    ),
    "IDN": (
        ["xn--hfen-loa.example"],
        ["https://h\u00e4fen.example/", "https://xn--hfen-loa.example/x"],
        ["https://hafen.example/", "https://h\u0430fen.example/"],
    ),
    "IP": (["127.0.0.1"], ["http://127.0.0.1/", "http://0x7f.1/x"], ["http://127.0.0.2/", "http://[::1]/"]),
    "IPv6": (["[::1]"], ["http://[::1]:8000/"], ["http://[::2]/"]),
}


@pytest.mark.parametrize("name", HOSTS)
def test_an_address_counts_by_the_host_that_a_browser_would_open(
    client: Client, community: Community, name: str
) -> None:
    whitelist, own, foreign = HOSTS[name]
    Embed.objects.filter(community=community).update(domain_whitelist=whitelist)
    move = imported(client, community, file_of([*own, *foreign, "https://victim.example/x"]))
    assert addresses_in(community) == {normalize(address).normalized_url for address in own}
    assert sum(move.counts["elsewhere"].values()) == len(foreign) + 1


def test_text_that_is_no_host_is_named_by_no_entry() -> None:
    assert not is_named("null", ["null.example"])
    assert not is_named("null", [])
    assert not is_named("harbour.example", [])


def embed(owner: Account, community: Community, **fields: Any) -> Embed:
    return Embed.objects.create(owner=owner, community=community, name="Widget", **fields)


@pytest.mark.parametrize(
    ("of", "is_taken"),
    [
        ("moderator", True),
        ("super admin", True),
        ("stranger", False),
        ("deleted", False),
        ("paused", True),
        ("disabled", False),
        ("without a whitelist", False),
        ("another community", False),
    ],
)
def test_the_widgets_that_moderators_own_count(
    person: Account, client: Client, community: Community, of: str, is_taken: bool
) -> None:
    owner, into, fields = person, community, {"domain_whitelist": ["second.example"]}
    match of:
        case "moderator":
            owner = PersonFactory()
            Moderator.objects.create(community=community, account=owner)
        case "super admin":
            owner = SuperAdminFactory()
        case "stranger":
            owner = PersonFactory()
        case "deleted":
            row = embed(person, community, **fields)
            Embed.objects.filter(pk=row.pk).update(deleted_at=row.created_at)
            fields = {"domain_whitelist": []}
        case "paused" | "disabled":
            embed(person, community, status=EmbedStatus(of), **fields)
            fields = {"domain_whitelist": []}
        case "without a whitelist":
            fields = {"domain_whitelist": []}
        case "another community":
            into = CommunityFactory()
            Moderator.objects.create(community=into, account=person)
    embed(owner, into, **fields)
    imported(client, community, file_of([OWN, "https://second.example/"]))
    assert ("https://second.example/" in addresses_in(community)) == is_taken


def test_a_community_without_a_widget_has_no_host(person: Account, client: Client, community: Community) -> None:
    Embed.objects.filter(community=community).delete()
    assert imported(client, community, file_of([OWN])).status == MoveStatus.FAILED
    assert not addresses_in(community)


def test_replies_and_reactions_to_posts_that_are_left_out_do_not_come(community: Community, tmp_path: Path) -> None:
    posts = [Comment(1, 0, "Elsewhere", address=FOREIGN), Comment(2, 1, "Answer", address=OWN)]
    file = tmp_path / "a.xml"
    file.write_text("".join(disqus(posts, addresses=[FOREIGN, OWN])))
    result = import_posts("disqus", file, community, tmp_path / "r.csv", any_host=False)
    (post,) = Message.objects.filter(community=community)
    assert (post.content, post.parent) == ("Answer", None)
    assert any("left out" in row["reason"] for row in result.report)


def test_the_command_obeys_the_same_rule_without_any_host(community: Community, tmp_path: Path) -> None:
    file = tmp_path / "a.xml"
    file.write_bytes(file_of([OWN, FOREIGN, f"{FOREIGN}2"]))
    result = import_posts("disqus", file, community, tmp_path / "r.csv", any_host=False, dry_run=True)
    assert result.counts["skipped"] == 2
    assert "left out, on hosts of no embed of the community (--any-host takes them): victim.example (2)" in result.out
    file.write_bytes(file_of([FOREIGN]))
    with pytest.raises(CommandError, match=r"All 1 posts .*victim\.example.* With --any-host it takes every host"):
        import_posts("disqus", file, community, tmp_path / "r.csv", any_host=False)
    assert Move.objects.get().status == MoveStatus.FAILED
    assert not Message.objects.filter(community=community).exists()


def test_any_number_of_hosts_is_counted_in_little_memory(client: Client, community: Community) -> None:
    move = imported(client, community, file_of([OWN, *(f"https://h{n}.example/" for n in range(150))]))
    assert len(move.counts["elsewhere"]) == 101
    assert move.counts["elsewhere"]["…"] == 50
    assert report_of(client, move)[-1]["address"] == "…"
    assert sum(move.counts["elsewhere"].values()) == 150


def queue(client: Client, community: Community) -> str:
    return client.get(f"/account/communities/{community.slug}/moderation/").content.decode()


def test_a_blocked_word_holds_an_imported_post_back(person: Account, client: Client, community: Community) -> None:
    Community.objects.filter(pk=community.pk).update(blocked_words=["casino"], pre_moderation="everyone")
    Embed.objects.filter(community=community).update(blocked_words=["pills*"])
    embed(person, community, domain_whitelist=["second.example"], blocked_words=["second"])
    # As createMessage does, it obeys no widgets of strangers, of other communities or that a super admin disabled.
    embed(PersonFactory(), community, blocked_words=["lottery"])
    embed(PersonFactory(), community, blocked_words=["clean"], status=EmbedStatus.DISABLED)
    embed(person, site(person, "Elsewhere", hosts=["harbour.example"]), blocked_words=["clean"])
    texts = ["A CASINO here", "cheap pillsxx", "a clean second", "second", "casinos", "a lottery"]
    second = "https://second.example/"
    pages = [OWN, f"{OWN}2", f"{OWN}3", second, f"{second}2", f"{OWN}4"]
    for text, address in zip(texts, pages, strict=True):
        page = Page.objects.filter(pk=normalize(address).page_id).first() or PageFactory(url=address)
        body = {"pageId": page.pk, "communityId": str(community.pk), "content": text}
        answer = Api.as_person(PersonFactory()).post("/api/messages?dryRun=true", body)
        assert (answer.error == "content_blocked") is (text not in ("a clean second", "casinos", "a lottery")), text
    move = imported(client, community, file_of(pages, texts))
    statuses = {post.content: post.status for post in Message.objects.filter(community=community)}
    expected = ["pending", "pending", "published", "pending", "published", "published"]
    assert statuses == dict(zip(texts, expected, strict=True))
    assert (move.counts["pending"], move.counts["published"], move.counts["changed"]) == (3, 3, 3)
    assert {row["reason"] for row in report_of(client, move)} == {"It has a blocked word, and waits for approval."}
    ordinary = MessageFactory(community=community, status=MessageStatus.PENDING)
    shown = queue(client, community)
    assert ordinary.content in shown
    assert "cheap pillsxx" in shown
    assert shown.count(" · imported") == 3
    assert "a clean second" not in shown


def test_a_reply_below_a_post_that_is_held_back_waits_with_it(community: Community, tmp_path: Path) -> None:
    Community.objects.filter(pk=community.pk).update(blocked_words=["casino"])
    file = tmp_path / "a.xml"
    file.write_text("".join(disqus([Comment(1, 0, "casino", address=OWN), Comment(2, 1, "Yes", address=OWN)], [OWN])))
    import_posts("disqus", file, community, tmp_path / "r.csv")
    assert Api().get("/api/messages", pageId=normalize(OWN).page_id).json["messages"] == []
    reply = Message.objects.get(content="Yes")
    assert (reply.status, reply.in_hidden_thread) == ("published", True)


def test_the_words_of_a_widget_without_a_whitelist_hold_on_every_page(
    person: Account, community: Community, tmp_path: Path
) -> None:
    embed(person, community, blocked_words=["casino"], status=EmbedStatus.PAUSED)
    file = tmp_path / "a.xml"
    file.write_bytes(file_of(["https://else.example/"], ["casino"]))
    import_posts("disqus", file, community, tmp_path / "r.csv")
    assert Message.objects.get(community=community).status == "pending"


def test_words_are_found_wherever_createmessage_finds_them(community: Community, tmp_path: Path) -> None:
    Community.objects.filter(pk=community.pk).update(blocked_words=["casino"])
    posts: list[dict[str, Any]] = [
        {"id": "clean", "anchorText": "harbour", "attachments": [{"type": "link", "url": "https://a.example/"}]},
        {"id": "anchor", "anchorText": "The Casino"},
        {"id": "file", "attachments": [{"type": "link", "url": "https://a.example/casino"}]},
        {"id": "tag", "tagType": "note", "payload": {"text": "casino"}},
        {"id": "name", "author": {"id": "x", "name": "Casino", "handle": "x", "kind": "human"}},
        {"id": "long", "content": "a " * 10_000 + "casino"},
    ]
    import_own(tmp_path / "a.jsonl", community, *posts)
    pending = Message.objects.filter(community=community, status="pending")
    assert sorted(post.content for post in pending) == ["anchor", "file", "tag"]
    assert Message.objects.filter(community=community, status="published").count() == 3


@pytest.mark.parametrize(("format", "name"), [("disqus", "disqus.xml"), ("wordpress", "wordpress.xml")])
def test_an_owner_moves_a_site_with_its_old_domain(person: Account, client: Client, format: str, name: str) -> None:
    lantern = site(person, "Lantern", hosts=["www.lantern.example"])
    upload(client, lantern, (SAMPLES / name).read_bytes(), format=format)
    run_due("imports")
    move = Move.objects.get(community=lantern)
    assert (move.status, "elsewhere" in move.counts) == (MoveStatus.CHECKED, False)
    assert move.counts["published"] > 100


def test_imported_posts_say_so_everywhere(client: Client, community: Community, person: Account) -> None:
    imported(client, community, file_of([OWN]))
    page_id = normalize(OWN).page_id
    written = MessageFactory(page_id=page_id, community=community, author=person, content="Written here")
    listed = {post["content"]: post for post in Api().get("/api/messages", pageId=page_id).json["messages"]}
    assert {text: post["imported"] for text, post in listed.items()} == {"Post 1": True, "Written here": False}
    shown = Client().get(f"/p/{listed['Post 1']['id']}", HTTP_ACCEPT="text/html").content.decode()
    assert "· imported" in shown
    assert "· imported" not in Client().get(f"/p/{written.pk}", HTTP_ACCEPT="text/html").content.decode()


def test_posts_of_earlier_imports_are_marked(community: Community, tmp_path: Path) -> None:
    file = tmp_path / "a.xml"
    file.write_bytes(file_of([OWN, f"{OWN}2"]))
    import_posts("disqus", file, community, tmp_path / "r.csv")
    Message.objects.update(imported=False)
    with connection.schema_editor() as editor:
        import_module("moving.migrations.0008_mark_imported_posts").mark(None, editor)
    assert set(Message.objects.filter(imported=True).values_list("community", flat=True)) == {community.pk}
    assert Message.objects.filter(imported=True).count() == 2
