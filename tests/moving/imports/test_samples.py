"""An import of each sample shows the posts that the facts beside it count."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from html import unescape
from pathlib import Path

import pytest

from messaging.models import Account, Message
from messaging.models.message import LISTED
from moving.imports.texts import name_of
from moving.models import ImportedAuthor, ImportedPost
from tests.factories import CommunityFactory
from tests.messaging.test_derived_rows import check as check_derived_rows
from tests.moving.files import FACTS, SAMPLES
from tests.moving.imports.importing import HOST, MAP, import_posts, page_of, shown

FILES = [name for name, facts in FACTS.items() if isinstance(facts, dict) and "shown_by_page" in facts]
pytestmark = [pytest.mark.slow, pytest.mark.django_db]


def depth(message: Message) -> int:
    return 0 if message.parent is None else 1 + depth(message.parent)


@pytest.mark.parametrize("name", FILES)
def test_a_sample_has_all_its_posts_on_their_pages_and_a_second_run_changes_nothing(name: str, tmp_path: Path) -> None:
    facts, community = FACTS[name], CommunityFactory()
    maps = HOST if facts["format"] == "isso" else MAP
    imported = import_posts(facts["format"], SAMPLES / name, community, tmp_path / "r.csv", map=maps)
    posts = shown(community)
    by_page = Counter(posts.values_list("page_id", flat=True))
    assert by_page == {page_of(key): count for key, count in facts["shown_by_page"].items()}
    assert posts.count() == facts["shown"]
    assert Message.objects.filter(community=community, status="pending").count() == facts["pending"]
    check_landmarks(facts, posts)
    check_derived_rows()
    assert all(post.reply_count == post.replies.filter(LISTED).count() for post in Message.objects.all())
    before = state()
    again = import_posts(facts["format"], SAMPLES / name, community, tmp_path / "r.csv", map=maps)
    assert (again.counts["new"], again.counts["earlier"], again.id) == (0, imported.counts["new"], imported.id)
    assert state() == before


def state() -> object:
    return (
        sorted(Message.objects.values_list("id", "updated_at", "reply_count", "author")),
        Account.objects.count(),
        ImportedPost.objects.count(),
        ImportedAuthor.objects.count(),
    )


def check_landmarks(facts: dict, posts: object) -> None:
    for landmark in facts["landmarks"]:
        at = datetime.fromisoformat(landmark["at"])
        found = [
            post
            for post in posts.filter(page_id=page_of(landmark["page"])).select_related("author", "parent")
            if abs((post.created_at - at).total_seconds()) < 1
        ]
        assert any(depth(post) == landmark["depth"] for post in found), landmark
        if landmark["author"]:
            assert name_of(unescape(landmark["author"])) in [post.author.name for post in found], landmark
