"""What an export has is the same after an import, in all but ids."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from messaging.models import Community, Message
from messaging.models.message import MessageStatus
from reactions.models import Reaction
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.commands.running import run
from tests.factories import AgentAccountFactory, CommunityFactory, MessageFactory, PageFactory, PersonFactory

pytestmark = pytest.mark.django_db(transaction=True)
TEXTS = [
    "plain",
    "  spaces at both ends \n",
    "<script>alert(1)</script> & \"quotes\" 'and' `code`\n```\n<b>\n```",
    "\u202eright to left\u202c مرحبا 漢字 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "line\r\nbreaks\r\u2028 and \x0b\x1b[31m controls\x7f",
    "=HYPERLINK(1) ]]> &amp; %s %(name)s {} \\u0000 \\",
    "a" * 20_000,
]


def send(api: Api, path: str, body: dict[str, Any]) -> Any:
    answer = api.post(path, body)
    assert answer.status in {200, 201}, answer.body
    return answer.json


def a_conversation() -> Any:
    """By the API: threads, quotes, smart tags, attachments, reactions, edits, deletions, an agent, hostile texts."""
    community, page, other_page = CommunityFactory(), PageFactory(), PageFactory()
    ada, bob = PersonFactory(name="Ada <b>"), PersonFactory(name="Bob")
    agent = agent_with_token().api
    apis = Api.as_person(ada), Api.as_person(bob), agent

    def post(api: Api, content: str, on: Any = page, **more: Any) -> Any:
        body = {"pageId": on.pk, "communityId": str(community.pk), "content": content, **more}
        return send(api, "/api/messages", body)

    posts = [post(apis[number % 2], text) for number, text in enumerate(TEXTS)]
    deep = posts[0]
    for number in range(6):
        deep = post(apis[number % 3], f"level {number}", parentId=deep["id"])
    post(apis[1], "a quote", quoteId=posts[2]["id"])
    post(agent, "of another page", other_page, quoteId=deep["id"])
    post(
        *(apis[0], ""),
        tagType="claim",
        payload={"statement": "It rains <b>."},
        anchorText="rain & shine",
        contextAnchor={"path": ["p", 1], "offset": 2.5},
        attachments=[{"type": "image", "url": "https://example.com/a.png"}],
        language="en",
        sourceApp="tests",
    )
    for api, emoji in zip(apis, ("👍", "👍", "🎉"), strict=True):
        send(api, "/v1/reactions", {"messageId": posts[1]["id"], "emoji": emoji})
    assert apis[0].put(f"/api/messages/{posts[2]['id']}", {"content": "edited"}).status == 200
    for deleted in (posts[0], posts[3]):
        assert apis[0 if deleted is posts[0] else 1].delete(f"/api/messages/{deleted['id']}").status == 200
    return community


def test_what_was_posted_is_the_same_after_imports(tmp_path: Path) -> None:
    community = a_conversation()
    before = exported(community)
    copy = copy_of(community, tmp_path)
    after = exported(copy)
    assert list(without_ids(after)) == list(without_ids(before))
    assert after[-1] == before[-1]
    counts = ("reply_count", "quote_count", "reaction_counts", "reaction_total", "is_tombstone", "created_at")
    posts = Message.objects.exclude(status=MessageStatus.DELETED, is_tombstone=False).order_by("created_at", "id")
    assert list(posts.filter(community=copy).values_list(*counts)) == list(
        posts.filter(community=community).values_list(*counts)
    )
    # A second import changes nothing, and a copy of the copy is the same.
    import_file(tmp_path / f"{community.slug}.jsonl.gz", copy)
    assert exported(copy)[1:] == after[1:]
    assert list(without_ids(exported(copy_of(copy, tmp_path)))) == list(without_ids(before))


def test_a_field_that_is_left_out_is_a_row_of_the_report(tmp_path: Path) -> None:
    post = MessageFactory(community=CommunityFactory(), language="en", source_app="tests")
    wrong = {"language": "x" * 9_000}
    lines = [line | (wrong if line["type"] == "post" else {}) for line in exported(post.community)]
    file, copy = tmp_path / "changed.jsonl", CommunityFactory()
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = import_file(file, copy)
    assert "Left out: language (Shorten language to at most 16 characters)." in report
    assert "x" * 200 not in report
    imported = Message.objects.get(community=copy)
    assert (imported.language, imported.source_app) == (None, "tests")


def test_pending_posts_come_back_pending(tmp_path: Path) -> None:
    community = CommunityFactory()
    pending = MessageFactory(community=community, status="pending", content="pending")
    MessageFactory(community=community, parent=pending, content="answer")
    copy = copy_of(community, tmp_path, "--with-pending")
    assert list(without_ids(exported(copy, "--with-pending"))) == list(
        without_ids(exported(community, "--with-pending"))
    )
    assert [line["type"] for line in exported(copy)] == ["header", "end"]


def test_posts_of_erased_people_belong_to_the_account_of_all_erased_people(tmp_path: Path) -> None:
    from messaging.privacy.erasing import heirs

    community = CommunityFactory()
    post = MessageFactory(community=community)
    Message.objects.filter(pk=post.pk).update(author_id=heirs()["human"])
    copy = copy_of(community, tmp_path)
    assert Message.objects.get(community=copy).author_id == heirs()["human"]


def test_an_import_of_disqus_xml_has_the_same_threads(tmp_path: Path) -> None:
    community, copy, file = CommunityFactory(), CommunityFactory(), tmp_path / "posts.xml"
    post = MessageFactory(community=community, content="**bold**\n\n- one\n- two\n\n`<code>` & *more*")
    MessageFactory(community=community, parent=post, content="answer", author__name="王小明 <b>")
    run("export_posts", "--community", community.slug, "--format", "disqus", "--output", str(file))
    import_file(file, copy, "disqus")
    first, second = Message.objects.filter(community=copy).order_by("created_at", "id")
    from messaging.markdown.html import to_plain

    assert to_plain(first.content) == to_plain(post.content)
    assert (second.parent_id, second.content, second.author.name) == (first.pk, "answer", "王小明 <b>")
    assert first.page_id == post.page_id


def test_pending_posts_in_disqus_xml_come_back_pending(tmp_path: Path) -> None:
    community, copy, file = CommunityFactory(), CommunityFactory(), tmp_path / "posts.xml"
    MessageFactory(community=community, content="pending", status="pending")
    MessageFactory(community=community, content="published")
    run("export_posts", "--community", community.slug, "--format", "disqus", "--with-pending", "--output", str(file))
    import_file(file, copy, "disqus")
    states = dict(Message.objects.filter(community=copy).values_list("content", "status"))
    assert states == {"pending": "pending", "published": "published"}


CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
NAMES = st.text(st.characters(categories=["L", "N"]), min_size=2, max_size=20)
POSTS = st.lists(
    st.tuples(
        st.text(CHARACTERS, max_size=60),
        # The author, the parent and the quoted post among those before, and who has reacted.
        st.integers(0, 2),
        st.none() | st.integers(0, 5),
        st.none() | st.integers(0, 5),
        st.sets(st.integers(0, 2)),
        st.none()
        | st.dictionaries(
            st.text(CHARACTERS, max_size=5), st.integers(-5, 5) | st.text(CHARACTERS, max_size=5), max_size=3
        ),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.slow
@settings(max_examples=10, phases=[Phase.explicit, Phase.generate])
@given(posts=POSTS)
def test_any_posts_are_the_same_after_an_import(tmp_path_factory: Any, posts: list[Any]) -> None:
    community, page = CommunityFactory(), PageFactory()
    authors = [PersonFactory(), PersonFactory(), AgentAccountFactory()]
    written: list[Message] = []
    for content, author, parent, quote, reacting, anchor in posts:
        values = {"page": page, "community": community, "author": authors[author], "context_anchor": anchor}
        earlier = {"parent": parent, "quote": quote}
        values |= {
            name: written[place] for name, place in earlier.items() if place is not None and place < len(written)
        }
        written.append(MessageFactory(content=content or "text", **values))
        Reaction.objects.bulk_create(
            Reaction(message=written[-1], account=authors[number], emoji="👍") for number in reacting
        )
        counts = {"👍": len(reacting)} if reacting else {}
        Message.objects.filter(pk=written[-1].pk).update(reaction_total=len(reacting), reaction_counts=counts)
    copy = copy_of(community, tmp_path_factory.mktemp("export"))
    assert list(without_ids(exported(copy))) == list(without_ids(exported(community)))


NOBODY = "00000000-0000-0000-0000-000000000000"


def exported(community: Community, *options: str) -> list[dict[str, Any]]:
    text = run("export_posts", "--community", str(community.pk), *options)
    return [json.loads(line) for line in text.rstrip("\n").split("\n")]


def copy_of(community: Community, folder: Path, *options: str) -> Community:
    """Another community with the imported posts of this one."""
    file, copy = folder / f"{community.slug}.jsonl.gz", CommunityFactory()
    run("export_posts", "--community", str(community.pk), "--output", str(file), *options)
    import_file(file, copy)
    return copy


def import_file(file: Path, community: Community, format: str = "jsonl") -> str:
    """The output of the command."""
    out, report = StringIO(), f"{file}.report.csv"
    values = {"any_host": True, "format": format, "community": str(community.pk), "report": report}
    call_command("import_posts", str(file), **values, stdout=out, stderr=StringIO())
    return out.getvalue() + Path(report).read_text()


def without_ids(lines: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The posts with the place of each in the file instead of its id, and of its author instead of theirs."""
    posts = [line for line in lines if line["type"] == "post"]
    places = {post["id"]: place for place, post in enumerate(posts)}
    authors: dict[str, int] = {NOBODY: -1}
    for post in posts:
        # The order of those of one moment is that of ids.
        reactions = sorted(post["reactions"], key=lambda reaction: (reaction["createdAt"], reaction["author"]["name"]))
        yield {
            **post,
            "id": places[post["id"]],
            "parentId": places.get(post.get("parentId", "")),
            "quoteId": places.get(post.get("quoteId", "")),
            "communityId": None,
            # What an import writes is imported.
            "imported": None,
            "author": _author(post["author"], authors),
            "reactions": [{**reaction, "author": _author(reaction["author"], authors)} for reaction in reactions],
        }


def _author(author: dict[str, Any], known: dict[str, int]) -> dict[str, Any]:
    place = known.setdefault(author["id"], len(known))
    return {"id": place, "name": author["name"], "kind": author["kind"]}
