"""Reactions of our own exports: in short transactions after the posts, each once, also when a run is stopped."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from messaging.models import Community, Message
from moving.imports import reactions, running, writing
from moving.imports.progress import Step, silent
from moving.imports.undoing import begin_undo, undo
from moving.models import ImportedAuthor, ImportedPost, Move, MoveStatus
from reactions.models import Reaction
from reactions.services import EMOJI_KINDS_MAX
from tests.api import Api
from tests.factories import PersonFactory
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
