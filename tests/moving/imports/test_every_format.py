"""The same hostile comments in each format: impossible dates, a cycle, an id that comes twice, a text of 10 MB."""

from __future__ import annotations

from pathlib import Path

import pytest

from messaging.models import Community, Message
from messaging.models.message import CONTENT_MAX
from tests.moving.imports.importing import HOST, import_posts
from tests.moving.writing import FORMATS, Comment, write

pytestmark = pytest.mark.django_db
COMMENTS = (
    Comment(1, 0, "before 1970", "1960-01-01T00:00:00Z"),
    Comment(2, 0, "after 2100", "2150-01-01T00:00:00Z"),
    Comment(3, 4, "answers the next one", "2016-05-02T10:00:00Z"),
    Comment(4, 3, "answers the one before", "2016-05-02T10:01:00Z"),
    Comment(5, 0, "good", "2016-05-02T10:02:00Z"),
    Comment(5, 0, "the same id", "2016-05-02T10:03:00Z"),
    Comment(6, 0, "word " * 2_000_000, "2016-05-02T10:04:00Z"),
    Comment(7, 5, "answer", "2016-05-02T10:05:00Z"),
)


@pytest.mark.parametrize("format", FORMATS)
def test_hostile_comments_are_reported_and_the_rest_is_imported(
    format: str, community: Community, tmp_path: Path
) -> None:
    file, maps = write(format, tmp_path / "export", COMMENTS), HOST if format == "isso" else ()
    imported = import_posts(format, file, community, tmp_path / "r.csv", map=maps)
    assert imported.counts["new"] == 7
    reasons = [(row["source_id"], row["reason"]) for row in imported.report]
    assert [source for source, reason in reasons if "The date is missing, before 1990" in reason] == ["1", "2"]
    assert len([source for source, reason in reasons if "It answers itself" in reason]) == 1
    assert [source for source, reason in reasons if "was cut to 20,000" in reason] == ["6"]
    assert [source for source, reason in reasons if "the same id" in reason] == ([] if format == "isso" else ["5"])
    posts = {message.content[:10].strip(): message for message in Message.objects.filter(community=community)}
    assert posts["answer"].parent_id == posts["good"].pk
    assert len(posts["word word"].content) <= CONTENT_MAX
