"""Own exports: reactions in short transactions after the posts, quotes, and the steps that are told."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from messaging.models import Community, Message
from moving.imports import announcing, quotes, reactions, running, undoing, writing
from moving.imports import quotes as missing_quotes
from moving.imports.progress import Passes, ProgressLines, Step, silent
from moving.imports.undoing import begin_undo, undo
from moving.models import ImportedAuthor, ImportedPost, Move, MoveStatus
from reactions.models import Reaction
from reactions.services import EMOJI_KINDS_MAX
from tests.api import Api
from tests.commands.running import run
from tests.factories import CommunityFactory, MessageFactory, PersonFactory
from tests.moving.imports.importing import Imported, import_own

WHEN = "2026-11-01T08:15:30Z"
pytestmark = pytest.mark.django_db


def reaction(number: int, emoji: str = "👍") -> dict[str, Any]:
    return {"emoji": emoji, "createdAt": WHEN, "author": {"id": f"r{number}", "name": f"Reader {number}"}}


def import_reactions(folder: Path, community: Community, **of_posts: int) -> Imported:
    """Posts of these ids with as many reactions."""
    posts = ({"id": key, "reactions": list(map(reaction, range(count)))} for key, count in of_posts.items())
    return import_own(folder / "own.jsonl", community, *posts)


class Steps:
    """Takes the place of the lines of progress: counts the reactions at each step, and ends the run at one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, stop_at: int = 0) -> None:
        self.stop_at, self.stored = stop_at, []
        monkeypatch.setattr(reactions, "BATCH", 2)
        monkeypatch.setattr("moving.management.commands.import_posts.ProgressLines", lambda _write: self)

    def __call__(self, step: Step) -> None:
        if step.name == "reacting":
            self.stored.append(Reaction.objects.count())
            if step.done == self.stop_at:
                raise KeyboardInterrupt


def counts() -> dict[str, int]:
    """The reactions by the text of their post, which agree with its counts."""
    rows = Counter(Reaction.objects.values_list("message__content", "emoji"))
    stored = Message.objects.values_list("content", "reaction_counts", "reaction_total")
    assert rows == {(text, emoji): count for text, by_emoji, _ in stored for emoji, count in by_emoji.items()}
    assert all(total == sum(by_emoji.values()) for _, by_emoji, total in stored)
    return {text: total for text, _, total in stored}


def test_reactions_are_written_in_transactions_of_a_batch(
    community: Community, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps(monkeypatch)
    import_reactions(tmp_path, community, a=5, b=1, c=0, d=2)
    assert steps.stored == [2, 4, 6, 8]
    assert counts() == {"a": 5, "b": 1, "c": 0, "d": 2}


@pytest.mark.parametrize("stop_at", [2, 4, 6, 8])
def test_a_stopped_run_goes_on_with_the_reactions(
    community: Community, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int
) -> None:
    steps = Steps(monkeypatch, stop_at=stop_at)
    with pytest.raises(KeyboardInterrupt):
        import_reactions(tmp_path, community, a=5, b=1, c=0, d=2)
    assert Reaction.objects.count() == stop_at
    steps.stop_at = 0
    import_reactions(tmp_path, community, a=5, b=1, c=0, d=2)
    assert counts() == {"a": 5, "b": 1, "c": 0, "d": 2}
    assert not ImportedPost.objects.filter(lacks_reactions=True).exists()


@pytest.mark.parametrize("by", ["a later export", "a host of the release before, which left them out"])
def test_a_further_run_brings_the_reactions_that_are_missing(
    community: Community, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    steps, posts = Steps(monkeypatch, stop_at=2), {"a": 5, "b": 1}
    with pytest.raises(KeyboardInterrupt):
        import_reactions(tmp_path, community, **posts)
    if by == "a later export":
        posts["a"] += 1
    else:
        # It finds all posts there, and does not know that they lack reactions.
        Move.objects.update(status=MoveStatus.DONE)
    steps.stop_at = 0
    import_reactions(tmp_path, community, **posts)
    assert counts() == posts


def test_a_second_run_restores_no_reaction_that_was_removed(community: Community, tmp_path: Path) -> None:
    import_reactions(tmp_path, community, a=3)
    removed = Reaction.objects.first()
    assert removed is not None
    removed.delete()
    import_reactions(tmp_path, community, a=3)
    import_reactions(tmp_path, community, a=3, b=0)
    assert Reaction.objects.count() == 2


@pytest.mark.usefixtures("bystander")
def test_a_stopped_run_can_be_undone(community: Community, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Steps(monkeypatch, stop_at=4)
    with pytest.raises(KeyboardInterrupt):
        import_reactions(tmp_path, community, a=5, b=1)
    begin_undo(move := Move.objects.get(community=community), by=None)
    undo(move, tell=silent)
    assert not Message.objects.filter(community=community).exists()
    assert not Reaction.objects.filter(message__community=community).exists()
    assert not ImportedAuthor.objects.filter(community=community).exists()


def test_people_react_while_reactions_are_written(
    community: Community, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, statuses = Api.as_person(PersonFactory()), []

    class Reacting(Steps):
        def __call__(self, step: Step) -> None:
            super().__call__(step)
            if self.stored == [2]:
                body = {"messageId": str(Message.objects.get().pk), "emoji": "🎉"}
                statuses.append(api.post("/v1/reactions", body).status)

    Reacting(monkeypatch)
    import_reactions(tmp_path, community, a=5)
    assert statuses == [200]
    assert counts() == {"a": 6}


def test_a_post_has_at_most_as_many_kinds_over_all_its_lines(community: Community, tmp_path: Path) -> None:
    kinds = [chr(0x1F400 + number) for number in range(EMOJI_KINDS_MAX + 5)]
    values = [reaction(number, emoji) for number, emoji in enumerate(kinds)]
    first, further = values[:10], {"type": "reactions", "postId": "a", "reactions": values[10:]}
    imported = import_own(tmp_path / "own.jsonl", community, {"id": "a", "reactions": first}, further)
    assert Reaction.objects.count() == EMOJI_KINDS_MAX
    assert [row["reason"] for row in imported.report] == [
        "Left out: reactions (5 without an emoji, a date or an author, or of too many kinds)."
    ]


def test_reactions_of_a_post_that_is_left_out_are_left_out(community: Community, tmp_path: Path) -> None:
    twice = {"id": "a", "reactions": [reaction(1)]}, {"id": "a", "reactions": [reaction(2)]}
    import_own(tmp_path / "own.jsonl", community, *twice)
    assert counts() == {"a": 1}


def test_a_batch_has_at_most_as_many_bytes_and_one_post(
    community: Community, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def write(posts: Any, *args: Any, **kwargs: Any) -> Any:
        sizes.append(len(posts))
        return writing.write(posts, *args, **kwargs)

    monkeypatch.setattr(running, "BATCH_BYTES", 10_000)
    monkeypatch.setattr(running, "write", write)
    large = {"tagType": "note", "payload": {"text": "й" * 4_000}}
    import_own(tmp_path / "own.jsonl", community, *({"id": f"{number}", **large} for number in range(4)))
    assert sizes == [2, 2]


# Quotes are counted once while the quoting post is there, whichever import has brought either.


@pytest.mark.parametrize("parent", [{}, {"parentId": "thread"}], ids=["post", "reply"])
def test_an_undone_import_does_not_count_in_a_post_of_another(parent: dict[str, str], tmp_path: Path) -> None:
    community = CommunityFactory()
    import_own(tmp_path / "first.jsonl", community, {"id": "quoted"})
    posts = ({"id": "quoted"}, {"id": "thread"}, {"id": "quoting", "quoteId": "quoted", **parent})
    second = import_own(tmp_path / "second.jsonl", community, *posts)
    quoted = Message.objects.get(content="quoted")
    assert (second.counts["new"], quoted.quote_count) == (2, 1)
    run("undo_import", second.id)
    quoted.refresh_from_db()
    assert (Message.objects.count(), quoted.quote_count) == (1, 0)


def test_a_quote_of_a_post_outside_of_the_file_is_reported(tmp_path: Path) -> None:
    imported = import_own(
        tmp_path / "posts.jsonl",
        CommunityFactory(),
        {"id": "with text", "quoteId": "outside"},
        {"id": "alone", "quoteId": "outside", "content": ""},
        {"id": "answered", "quoteId": "alone", "content": ""},
        {"id": "answer", "parentId": "answered"},
    )
    rows = {(row["source_id"], row["action"], row["reason"].partition(" (")[0]) for row in imported.report}
    assert rows == {
        ("with text", "changed", "Left out: quoteId"),
        ("alone", "changed", "Left out: quoteId"),
        ("alone", "skipped", "It is deleted, and no post answers it."),
        ("answered", "changed", "Left out: quoteId"),
    }
    written = Message.objects.values_list("content", "status", "is_tombstone", "quote")
    assert set(written) == {
        ("with text", "published", False, None),
        ("", "deleted", True, None),
        ("answer", "published", False, None),
    }


def test_a_quote_of_a_post_that_was_imported_before_is_restored(tmp_path: Path) -> None:
    community = CommunityFactory()
    import_own(tmp_path / "first.jsonl", community, {"id": "quoted"})
    second = import_own(tmp_path / "second.jsonl", community, {"id": "quoting", "quoteId": "quoted", "content": ""})
    assert second.report == []
    assert Message.objects.get(content="").quote.content == "quoted"


def test_a_post_without_any_content_is_left_out(tmp_path: Path) -> None:
    empty = ({"id": "a", "content": ""}, {"id": "b", "content": "", "quoteId": 5})
    imported = import_own(tmp_path / "posts.jsonl", CommunityFactory(), *empty)  # type: ignore[arg-type]
    reasons = [(row["source_id"], row["reason"]) for row in imported.report if row["action"] == "skipped"]
    assert reasons == [("a", "It has no text."), ("b", "It has no text.")]
    assert not Message.objects.exists()


# Each batch of each step is told: a run renews its lease then.


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """The steps of the command, whose batches have one row."""
    steps: list[Step] = []
    for module in (announcing, quotes, undoing):
        monkeypatch.setattr(module, "BATCH", 1)
    monkeypatch.setattr(missing_quotes, "LOOKED_UP", 1)
    monkeypatch.setattr("moving.management.commands.import_posts.ProgressLines", lambda _write: steps.append)
    return steps


def post(key: str, **fields: Any) -> dict[str, Any]:
    """On a page of its own, by an author of its own."""
    author = {"id": key, "name": key, "handle": key, "kind": "human"}
    return {"id": key, "pageUrl": f"https://lantern.example/{key}/", "author": author, **fields}


def test_each_batch_of_quotes_and_of_announced_pages_is_told(
    community: Community, tmp_path: Path, told: list[Step]
) -> None:
    posts = [post("a"), post("b", quoteId="a"), post("c", quoteId="a"), post("d")]
    import_own(tmp_path / "own.jsonl", community, *posts)
    of_quotes, of_pages = [Step("ending", 2, 4), Step("ending", 3, 4)], [Step("ending", 4, 4)] * 4
    assert [step for step in told if step.name == "ending"] == [*of_quotes, *of_pages]


def test_each_batch_of_missing_quotes_is_told(community: Community, tmp_path: Path, told: list[Step]) -> None:
    import_own(tmp_path / "complete.jsonl", community, post("a"), post("b"))
    without = told.count(Step("ordering", 0, 2))
    told.clear()
    import_own(tmp_path / "part.jsonl", community, post("c", quoteId="x"), post("d", quoteId="y"))
    looked_up = reported = 2
    assert told.count(Step("ordering", 0, 2)) == without + looked_up + reported


def test_each_batch_of_authors_and_pages_of_a_removed_import_is_told(
    community: Community, tmp_path: Path, told: list[Step]
) -> None:
    import_own(tmp_path / "own.jsonl", community, post("a"), post("b"), post("c"))
    undoing.begin_undo(move := Move.objects.get(), by=None)
    told.clear()
    undoing.undo(move, tell=told.append)
    of_posts, of_authors, of_pages = [Step("undoing", number, 3) for number in (1, 2, 3)], 3, 3
    assert told == [*of_posts, *[Step("undoing", 3, 3)] * (of_authors + of_pages)]
    assert not Message.objects.exists()


def test_the_end_of_a_step_is_printed_once() -> None:
    lines: list[str] = []
    tell = ProgressLines(lines.append)
    for _batch in range(3):
        tell(Step("ending", 4, 4))
    assert len(lines) == 1


def test_of_an_undone_import_an_answered_post_stays_without_its_quote(tmp_path: Path) -> None:
    posts = ({"id": "quoted"}, {"id": "quoting", "quoteId": "quoted"})
    imported = import_own(tmp_path / "posts.jsonl", CommunityFactory(), *posts)
    other = MessageFactory(quote=MessageFactory(), content="elsewhere")
    MessageFactory(parent=Message.objects.get(content="quoting"), content="answer")
    run("undo_import", imported.id)
    assert Message.objects.get(status="deleted").quote is None
    assert not Message.objects.filter(content="quoted").exists()
    assert Message.objects.get(pk=other.pk).quote_id == other.quote_id


def test_each_pass_over_the_posts_counts_as_a_part_of_each(told: list[Step]) -> None:
    passes = Passes("linking", tell=told.append, posts=3, passes=2)
    assert [list(passes.over("abc")) for _ in range(2)] == [["a", "b", "c"]] * 2
    assert [(step.done, step.total) for step in told] == [(0, 3), (1, 3), (1, 3), (3, 3)]
