"""The samples of the other systems are read as their facts say."""

from __future__ import annotations

from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from messaging.markdown.html import to_html, to_plain
from moving import formats
from moving.formats import Post
from tests.moving.files import FACTS, FORMATS, SAMPLES, posts, read, read_sample, reasons

# isso has the spam of the Disqus file that it imported as published comments.
NOT_SHOWN = {"disqus.xml", "wordpress.xml", "commento.json"}


def facts_of(name: str) -> dict[str, Any]:
    facts: dict[str, Any] = FACTS[name]
    return facts


@pytest.fixture(scope="module", params=FORMATS)
def sample(request: pytest.FixtureRequest) -> tuple[str, list[Post]]:
    records = read_sample(request.param)
    assert reasons(records) == []
    return request.param, posts(records)


def test_the_states_and_times_are_those_of_the_facts_and_each_comment_has_an_id_and_an_address(
    sample: tuple[str, list[Post]],
) -> None:
    name, found = sample
    facts = facts_of(name)
    assert Counter(post.state for post in found) == Counter(
        {
            "published": facts["approved"],
            "pending": facts["pending"],
            "spam": facts["spam"],
            "deleted": facts["deleted"],
            "withdrawn": facts.get("posts_of_a_deleted_thread", 0),
            "pingback": facts.get("pingbacks", 0),
        }
    )
    assert len({post.source_id for post in found}) == len(found)
    assert all(post.source_id and post.created_at and post.address and post.author.source_id for post in found)
    times = sorted(post.created_at for post in found if post.created_at and post.state not in {"withdrawn", "pingback"})
    written = [f"{time.replace(microsecond=0):%Y-%m-%dT%H:%M:%SZ}" for time in (times[0], times[-1])]
    assert written == [facts["earliest"], facts["latest"]]


def test_every_landmark_has_its_text_author_time_and_depth(sample: tuple[str, list[Post]]) -> None:
    name, found = sample
    parents = {post.source_id: post.parent_id for post in found}
    by_time: dict[str, list[Post]] = {}
    for post in found:
        by_time.setdefault(f"{post.created_at:%Y-%m-%dT%H:%M:%SZ}", []).append(post)
    for landmark in facts_of(name)["landmarks"]:
        shown = [post for post in by_time[landmark["at"]] if landmark["text"] in to_plain(post.text)]
        authors = {post.author.name for post in shown}
        assert landmark["depth"] in {depth(parents, post.source_id) for post in shown}, landmark
        # The facts have the names as isso and remark42 store them, escaped as in HTML.
        assert landmark["author"] is None or unescape(landmark["author"]) in authors, landmark


def depth(parents: dict[str, str], source_id: str) -> int:
    levels = 0
    while (source_id := parents[source_id]) in parents:
        levels += 1
    return levels


def test_addresses_are_those_of_the_facts(sample: tuple[str, list[Post]]) -> None:
    name, found = sample
    known = {bare(address) for addresses in FACTS["addresses"].values() for address in addresses} | {
        bare(FACTS["old_domain"]["address"])
    }
    shown = {bare(post.address) for post in found if post.state != "withdrawn"}
    if name == "isso.db":
        shown = {bare(f"https://lantern.example{address}") for address in shown}
        # isso drops fragments and the host.
        known |= {address.partition("#")[0] for address in known} | {"lantern.example/2012/11/flood"}
    assert shown <= known
    assert not any("&amp;" in address for address in shown)


def bare(address: str) -> str:
    """Without scheme and `www.`: Commento stores neither scheme."""
    return address.removeprefix("https://").removeprefix("http://").removeprefix("www.").rstrip("/")


def test_guests_are_anonymous_and_have_no_name_of_the_system(sample: tuple[str, list[Post]]) -> None:
    name, found = sample
    guests = [post for post in found if post.author.is_anonymous and post.state not in {"withdrawn", "pingback"}]
    # Commento's deleted comments belong to nobody.
    assert len(guests) == {"commento.json": 38}.get(name, facts_of(name)["anonymous"])
    assert {post.author.name for post in guests} <= {"", "Guest reader"}


def test_names_are_as_typed_and_two_people_of_one_name_are_two_authors(sample: tuple[str, list[Post]]) -> None:
    name, found = sample
    people = {post.author.source_id for post in found if post.author.name == "Sam Okafor"}
    # isso has no ids: the name alone, which a third of the comments have, is one more.
    assert len(people) == facts_of(name)["sam_okafors"]
    names = {post.author.name for post in found}
    assert "O'Neill & Sons" in names
    assert any(name.endswith('Bob</b> "the builder"') or name == 'Bob "the builder"' for name in names)
    assert max(map(len, names)) == 84


def test_scores_and_edits_are_those_of_the_facts(sample: tuple[str, list[Post]]) -> None:
    name, found = sample
    facts = facts_of(name)
    sums = {"isso": facts.get("likes", 0) - facts.get("dislikes", 0), "remark42": facts.get("score_sum", 0)}
    scores = [post.score for post in found if post.score is not None]
    assert sum(scores) == sums.get(facts["format"], facts.get("votes", 0))
    assert sum(post.edited_at is not None for post in found) == facts["edited"]


def test_what_must_not_be_shown_has_no_text(sample: tuple[str, list[Post]]) -> None:
    name, found = sample
    hidden = {"deleted", "spam", "withdrawn", "pingback"}
    assert {post.text for post in found if post.state in hidden} <= {""}
    if name in NOT_SHOWN:
        texts = "".join(post.text for post in found)
        assert [text for text in FACTS["must_not_show"] if text in texts] == []


def test_code_lists_quotes_and_links_are_marks_and_no_text_becomes_code(sample: tuple[str, list[Post]]) -> None:
    name, found = sample
    html = "".join(to_html(post.text) for post in found)
    for harmful in ("<script", "<img", 'href="javascript:'):
        assert harmful not in html
    # Literal brackets show as typed.
    assert [text for post in found if "[" in (text := to_plain(post.text)) and "\\[" in text] == [], name
    for shown in (
        "<code>a &lt; b &amp;&amp; c</code>",
        'return "&lt;flood&gt;" &amp; warn\n    return None  # *not* emphasis</code></pre>',
        '<li dir="auto">the <em>old</em> bell</li>',
        "<blockquote",
        "<strong>Please</strong> note, <em>all of you</em>",
        '<a href="https://lantern.example/letters/" rel="ugc nofollow noopener" target="_blank">the minutes</a>',
    ):
        assert shown in html


def test_progress_ends_with_the_size_of_the_file(sample: tuple[str, list[Post]]) -> None:
    name, _found = sample
    path = SAMPLES / name
    told: list[int] = []
    list(formats.read(FORMATS[name], path, on_progress=told.append))
    assert told == sorted(told)
    assert told[-1] == path.stat().st_size


WORDPRESS = """<rss><channel><item><link>https://lantern.example/</link><wp:status>{status}</wp:status>
<wp:post_password>{password}</wp:post_password><wp:comment><wp:comment_id>1</wp:comment_id>
<wp:comment_content>Text</wp:comment_content><wp:comment_approved>{approved}</wp:comment_approved></wp:comment></item>
</channel></rss>"""


@pytest.mark.parametrize(("approved", "shown"), [("1", "published"), ("0", "pending"), ("trash", "deleted")])
def test_comments_that_wordpress_does_not_show_are_withdrawn(tmp_path: Path, approved: str, shown: str) -> None:
    def state(status: str, password: str = "") -> str:
        path = tmp_path / "wordpress.xml"
        path.write_text(WORDPRESS.format(status=status, password=password, approved=approved))
        return posts(read("wordpress", path))[0].state

    assert {state(status) for status in ("publish", "closed", "")} == {shown}
    hidden = [state("draft"), state("private"), state("future"), state("trash"), state("publish", "secret")]
    assert set(hidden) == {"withdrawn"}
