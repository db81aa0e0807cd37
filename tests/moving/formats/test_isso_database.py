"""The database of isso is a file of others: nothing of it runs, and nothing beside it is read."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from moving.formats import UnreadableFile
from tests.moving.files import SAMPLES, posts, read, reasons
from tests.moving.large_files import write

COMMENTS = "tid, id, parent, created, modified, mode, text, author, email, likes, dislikes"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "is so?#%.db"
    write("isso", path, megabytes=0.01, length=100)
    return path


def run(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


TABLE, COLUMN = "It has no table `comments`", "Its table `comments` has no column `{}`"
# By what the table is instead.
VIEWS = {
    f"CREATE VIEW comments AS SELECT {COMMENTS} FROM hidden": TABLE,
    "CREATE VIEW comments AS WITH RECURSIVE n(tid) AS (SELECT 1 UNION ALL SELECT tid FROM n) SELECT tid FROM n": TABLE,
    f"CREATE VIRTUAL TABLE comments USING fts5({COMMENTS})": TABLE,
    f"CREATE TABLE comments ({COMMENTS.replace('text', 'hidden')}, text AS (zeroblob(1000000000)))": (
        COLUMN.format("text")
    ),
    f"CREATE TABLE comments ({COMMENTS.replace('likes, ', '')})": COLUMN.format("likes"),
}


@pytest.mark.parametrize("view", VIEWS)
def test_views_virtual_tables_and_missing_or_computed_columns_are_refused(path: Path, view: str) -> None:
    run(path, "ALTER TABLE comments RENAME TO hidden", view)
    with pytest.raises(UnreadableFile, match=VIEWS[view]):
        read("isso", path)


def test_no_file_beside_the_database_is_read_or_written(path: Path) -> None:
    """A write-ahead log would change what is read."""
    before = [post.source_id for post in posts(read("isso", path))]
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        database.execute("DELETE FROM comments WHERE id > 1")
        database.commit()
        copy = path.with_name("copy.db")
        shutil.copy(path, copy)
        shutil.copy(f"{path}-wal", f"{copy}-wal")
    beside = sorted(copy.parent.iterdir())
    assert [post.source_id for post in posts(read("isso", copy))] == before
    assert sorted(copy.parent.iterdir()) == beside


def test_a_file_with_a_path_of_any_characters_that_may_not_be_written_is_read(path: Path) -> None:
    path.chmod(0o400)
    assert len(posts(read("isso", path))) > 10


def test_damage_in_the_middle_ends_the_reading_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "isso.db"
    write("isso", path, megabytes=0.5, length=1000)
    content = bytearray(path.read_bytes())
    content[300_000:400_000] = b"\xff" * 100_000
    path.write_bytes(content)
    records = read("isso", path)
    assert len(posts(records)) > 100
    assert any(
        reason.startswith(("The database is damaged", "The comment cannot be read")) for reason in reasons(records)
    )


def test_a_text_that_is_too_long_is_left_out_with_a_reason(path: Path) -> None:
    run(
        path,
        "UPDATE comments SET text = printf('%.*c', 17000000, 'a') WHERE id = 2",
        f"UPDATE comments SET author = 'Ada &#{'1' * 5000};' WHERE id = 3",
    )
    records = read("isso", path)
    assert [post.source_id for post in posts(records)][:3] == ["1", "3", "4"]
    assert reasons(records) == ["The comment cannot be read: string or blob too big."]
    assert posts(records)[1].author.name == "Ada \ufffd", "a reference of thousands of digits"


def test_a_compressed_database_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "isso.db.gz"
    path.write_bytes((SAMPLES / "remark42-backup.gz").read_bytes())
    with pytest.raises(UnreadableFile, match="Decompress it first"):
        read("isso", path)


def test_imported_html_becomes_markdown_and_typed_markdown_stays(path: Path) -> None:
    run(
        path,
        "UPDATE comments SET text = '<p>a <em>b</em></p>' WHERE id = 1",
        "UPDATE comments SET text = 'a <script>alert(1)</script> **b**' WHERE id = 2",
        "UPDATE comments SET text = x'ff41', mode = 2 WHERE id = 3",
    )
    first, second, third = posts(read("isso", path))[:3]
    assert first.text == "a *b*"
    assert second.text == "a <script>alert(1)</script> **b**"
    assert (third.text, third.state) == ("\ufffdA", "pending")
