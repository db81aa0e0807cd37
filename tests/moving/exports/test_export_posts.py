"""The command `export_posts`: which posts, in which formats, into which files."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from messaging.models import Message
from reactions.models import Reaction
from tests.api import Api
from tests.commands.running import refused, run
from tests.embeds.making import an_embed
from tests.factories import AgentAccountFactory, CommunityFactory, MessageFactory, PageFactory, PersonFactory

# An export reads on a connection of its own.
pytestmark = pytest.mark.django_db(transaction=True)
NAMESPACE = {"d": "http://disqus.com"}
DSQ = "{http://disqus.com/disqus-internals}"


def lines(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run("export_posts", *arguments).rstrip("\n").split("\n")]


def posts(*arguments: str) -> list[dict[str, Any]]:
    return [line for line in lines(*arguments) if line["type"] == "post"]


def contents(*arguments: str) -> list[str]:
    return [post.get("content", "") for post in posts(*arguments)]


def table() -> list[dict[str, str]]:
    text = run("export_posts", "--all", "--format", "csv").removeprefix("\ufeff")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_file_has_a_header_the_posts_in_order_of_time_and_an_end() -> None:
    community = CommunityFactory()
    post = MessageFactory(community=community, content="first")
    MessageFactory(community=community, parent=post, content="second")
    header, *found, end = lines("--community", str(community.pk))
    assert (header["type"], header["format"], header["version"]) == ("header", "community-messaging", 1)
    assert header["scope"] == {"community": community.slug}
    assert [line["content"] for line in found] == ["first", "second"]
    assert found[1]["parentId"] == str(post.pk)
    assert end == {"type": "end", "posts": 2, "reactions": 0}


def test_a_post_has_every_public_field() -> None:
    author = AgentAccountFactory()
    quoted = MessageFactory(content="quoted")
    post = MessageFactory(
        author=author,
        quote=quoted,
        tag_type="claim",
        payload={"statement": "It rains."},
        anchor_text="rain",
        context_anchor={"start": 1},
        attachments=[{"type": "image", "url": "https://example.com/a.png"}],
        language="en",
        source_app="tests",
    )
    Reaction.objects.create(message=post, account=quoted.author, emoji="👍")
    Message.objects.filter(pk=post.pk).update(reaction_total=1, reaction_counts={"👍": 1})
    found = next(line for line in posts("--all") if line["id"] == str(post.pk))
    assert found["author"] == {"id": str(author.pk), "name": author.name, "handle": author.handle, "kind": "agent"}
    assert found["quoteId"] == str(quoted.pk)
    assert found["payload"] == {"statement": "It rains."}
    assert found["contextAnchor"] == {"start": 1}
    assert found["attachments"] == [{"type": "image", "url": "https://example.com/a.png"}]
    assert (found["tagType"], found["anchorText"], found["language"], found["sourceApp"]) == (
        *("claim", "rain"),
        *("en", "tests"),
    )
    assert found["pageUrl"] == post.page.normalized_url
    assert [(line["emoji"], line["author"]["id"]) for line in found["reactions"]] == [("👍", str(quoted.author_id))]


def test_only_what_is_public_is_exported() -> None:
    hidden = MessageFactory(status="hidden", content="hidden")
    MessageFactory(parent=hidden, content="under hidden")
    MessageFactory(status="pending", content="pending")
    MessageFactory(status="deleted", content="")
    MessageFactory(content="public")
    assert contents("--all") == ["public"]


def test_pending_posts_and_what_answers_them_are_exported_on_request() -> None:
    pending = MessageFactory(content="pending")
    MessageFactory(parent=pending, content="answer")
    hidden = MessageFactory(content="hidden")
    below = MessageFactory(parent=hidden, content="below hidden")
    MessageFactory(parent=below, content="further below", status="pending")
    for post, status in ((pending, "pending"), (hidden, "hidden")):
        Message.objects.filter(pk=post.pk).update(status=status)
    assert contents("--all") == []
    assert contents("--all", "--with-pending") == ["pending", "answer"]


def test_a_tombstone_is_exported_without_its_author() -> None:
    post = MessageFactory(content="secret")
    MessageFactory(parent=post, content="answer")
    assert Api.as_person(post.author).delete(f"/api/messages/{post.pk}").status == 200
    tombstone, answer = posts("--all")
    assert tombstone["status"] == "deleted"
    assert tombstone["author"] == {
        "id": "00000000-0000-0000-0000-000000000000",
        "name": "Deleted",
        "handle": "deleted",
        "kind": "human",
    }
    assert "content" not in tombstone
    assert answer["parentId"] == tombstone["id"]


def test_each_scope_has_its_posts_alone() -> None:
    embed = an_embed(PersonFactory())
    page, other = PageFactory(), PageFactory()
    post = MessageFactory(page=page, community=embed.community, embed_id=embed.pk, content="by the widget")
    MessageFactory(parent=post, community=embed.community, content="by the API")
    MessageFactory(page=other, community=embed.community, content="elsewhere")
    MessageFactory(page=page, content="without a community")
    assert contents("--embed", str(embed.pk)) == ["by the widget", "by the API"]
    assert contents("--community", embed.community.slug) == ["by the widget", "by the API", "elsewhere"]
    assert contents("--page", page.pk) == ["by the widget", "by the API", "without a community"]
    assert contents("--page", page.normalized_url) == contents("--page", page.pk)
    assert len(posts("--all")) == 4


def test_an_unknown_scope_is_refused_with_where_to_find_the_ids() -> None:
    unknown_id = "01890a5d-ac96-774b-bcce-b302099a8057"
    unknown = {
        "--community": ("unknown", unknown_id, "a\0b"),
        "--page": ("p1_unknown", "https://example.com/unknown", "\0"),
        "--embed": ("unknown", unknown_id),
    }
    for option, values in unknown.items():
        for value in values:
            assert "/" in refused("export_posts", option, value)


def test_a_viral_post_has_its_further_reactions_in_lines_of_their_own() -> None:
    people = [PersonFactory() for _ in range(3)]
    post = MessageFactory(content="viral")
    Reaction.objects.bulk_create(Reaction(message=post, account=person, emoji="🎉") for person in people)
    Message.objects.filter(pk=post.pk).update(reaction_total=3)
    from moving.exports import reading

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "FEW", 1)
        patch.setattr(reading, "REACTIONS_AT_ONCE", 2)
        patch.setattr(reading, "OF_ONE_POST", reading.REACTIONS.format(after="", limit=" LIMIT 2"))
        patch.setattr(reading, "FURTHER", reading.REACTIONS.format(after=reading.AFTER, limit=" LIMIT 2"))
        _header, found, further, end = lines("--all")
    assert (len(found["reactions"]), further["type"], further["postId"]) == (2, "reactions", found["id"])
    authors = {line["author"]["id"] for line in (*found["reactions"], *further["reactions"])}
    assert authors == {str(person.pk) for person in people}
    assert end["reactions"] == 3


def test_disqus_has_threads_then_posts_as_html(tmp_path: Path) -> None:
    post = MessageFactory(content="**Bold** <script>&\x08 ]]>\r\n😀", author__name="<b>Bob</b>")
    answer = MessageFactory(parent=post)
    file = tmp_path / "out.xml"
    run("export_posts", "--all", "--format", "disqus", "--output", str(file))
    root = ElementTree.parse(file).getroot()
    (thread,) = root.findall("d:thread", NAMESPACE)
    first, second = root.findall("d:post", NAMESPACE)
    assert thread.findtext("d:link", namespaces=NAMESPACE) == post.page.normalized_url
    message = first.findtext("d:message", namespaces=NAMESPACE) or ""
    assert "<strong>Bold</strong> &lt;script&gt;&amp; ]]&gt;" in message
    assert "😀" in message
    assert first.findtext("d:author/d:name", namespaces=NAMESPACE) == "<b>Bob</b>"
    assert second.find("d:parent", NAMESPACE).get(f"{DSQ}id") == str(post.pk)  # type: ignore[union-attr]
    assert second.get(f"{DSQ}id") == str(answer.pk)
    assert second.find("d:thread", NAMESPACE).get(f"{DSQ}id") == thread.get(f"{DSQ}id")  # type: ignore[union-attr]


def test_csv_has_a_row_for_each_post_with_line_breaks_inside_and_no_formula() -> None:
    post = MessageFactory(content='one,\n"two"')
    MessageFactory(parent=post)
    formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1"]
    for text in formulas:
        MessageFactory(content=text, author__name="=HYPERLINK(1)")
    first, second, *others = table()
    assert first["content"] == 'one,\n"two"'
    assert second["parent_id"] == str(post.pk)
    assert first["page_url"] == post.page.normalized_url
    assert [(row["content"], row["author_name"]) for row in others] == [
        (f"'{text}", "'=HYPERLINK(1)") for text in formulas
    ]


def test_a_file_that_ends_in_gz_is_compressed(tmp_path: Path) -> None:
    MessageFactory(content="hello")
    file = tmp_path / "posts.jsonl.gz"
    run("export_posts", "--all", "--output", str(file))
    assert json.loads(gzip.decompress(file.read_bytes()).splitlines()[1])["content"] == "hello"
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_failed_export_leaves_the_earlier_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "posts.jsonl"
    file.write_text("earlier")
    MessageFactory()

    def fail(_reader: Any) -> Any:
        yield b"begun"
        raise RuntimeError("stopped")

    from moving.exports import exporting

    monkeypatch.setitem(exporting.FORMATS, "jsonl", exporting.Format(fail, "jsonl", ""))
    with pytest.raises(RuntimeError):
        run("export_posts", "--all", "--output", str(file))
    assert file.read_text() == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_file_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    assert "cannot be written" in refused("export_posts", "--all", "--output", str(tmp_path / "no" / "file"))
