"""The conversion beside six writing agents, in a service of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest

from tests.faults.environment import Environment, an_environment
from tests.faults.run import Writers, play
from tests.nginx import needs_nginx
from tests.service import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.processes, needs_nginx]

EARLIER = """
INSERT INTO messaging_message (id, page_id, author_id, author_kind, parent_id, status, content, attachments,
    reply_count, quote_count, reaction_counts, reaction_total, created_at, updated_at)
SELECT uuidv7(make_interval(mins => -n)), page_id, author_id, author_kind, NULL, 'published', 'Earlier ' || n, '[]', 0,
    0, '{}', 0, now() - make_interval(mins => n), now()
FROM generate_series(1, 5000) n, (SELECT * FROM messaging_message LIMIT 1) one
"""
# Everything that belongs to the table by its name. A definition that is read again has other casts of the same meaning.
DEFINITIONS = """
SELECT 'index', relname,
    regexp_replace(
        replace(pg_get_indexdef(oid), ' ON ONLY ', ' ON '), '::(character varying|text)(\\[\\])?|[()]', '', 'g'
    ), '' FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid = 'messaging_message'::regclass
UNION ALL SELECT 'constraint', conname, pg_get_constraintdef(oid), conrelid::regclass::text FROM pg_constraint
WHERE 'messaging_message'::regclass IN (conrelid, confrelid) AND conparentid = 0
UNION ALL SELECT 'trigger', tgname,
    regexp_replace(pg_get_triggerdef(oid), '::(character varying|text)(\\[\\])?|[()]', '', 'g'),
    tgenabled::text FROM pg_trigger WHERE tgrelid = 'messaging_message'::regclass AND NOT tgisinternal
UNION ALL SELECT 'column', attname, format_type(atttypid, atttypmod) || attnotnull,
    coalesce(pg_get_expr(adbin, adrelid), '') FROM pg_attribute
LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE attrelid = 'messaging_message'::regclass AND attnum > 0
UNION ALL SELECT 'grants', '', coalesce(relacl::text, ''), relowner::text FROM pg_class
WHERE relname = 'messaging_message'
ORDER BY 1, 2, 4
"""
# One that is not attached has been built a second time, while the tables were locked.
NOT_ATTACHED = """
SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'messaging_message_first'::regclass
AND indexrelid NOT IN (SELECT inhrelid FROM pg_inherits)
"""
PARTITIONS = (
    "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'messaging_message'::regclass ORDER BY 1"
)


@pytest.fixture(scope="module")
def environment() -> Iterator[Environment]:
    with an_environment(WORKERS="1", STREAMS="0") as environment:
        yield environment


@pytest.fixture(scope="module")
def writers(environment: Environment) -> Writers:
    writers = Writers.of(environment)
    environment.rows(EARLIER)
    return writers


def manage(environment: Environment, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment.service.environment | {"DATABASE_URL": environment.service.cluster.url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_conversion_its_undoing_and_its_repetition_refuse_and_lose_nothing(
    environment: Environment, writers: Writers
) -> None:
    before = environment.rows(DEFINITIONS)

    def convert_and_back(environment: Environment) -> None:
        manage(environment, "partition_messages")
        assert environment.rows(DEFINITIONS) == before
        assert len(environment.rows(PARTITIONS)) > 2
        assert environment.rows(NOT_ATTACHED) == []
        manage(environment, "partition_messages", "--undo")
        assert environment.rows(DEFINITIONS) == before
        assert environment.rows(PARTITIONS) == []

    finished = play(environment, writers, convert_and_back, times=1, pause=0.5)
    assert finished.is_good, finished
    assert all(status < 500 for status in finished.notes.statuses), finished.notes.statuses
    assert finished.notes.writes


def test_a_stopped_conversion_is_completed(environment: Environment, writers: Writers) -> None:
    """It is killed while it waits for a reader; the next run goes on from there."""
    with psycopg.connect(environment.service.cluster.url) as reader:
        reader.execute("SELECT FROM messaging_message LIMIT 1")
        running = subprocess.Popen(
            [sys.executable, "manage.py", "partition_messages"],
            cwd=ROOT,
            env=environment.service.environment | {"DATABASE_URL": environment.service.cluster.url},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert running.stdout
        assert next(line for line in running.stdout if "in use" in line)
        running.kill()
        running.wait()
    manage(environment, "partition_messages")
    assert environment.rows("SELECT FROM pg_constraint WHERE NOT convalidated") == []
    for of_the_next_months in ("partition_messages", "make_partitions"):
        names = environment.rows(PARTITIONS)
        manage(environment, of_the_next_months)
        assert environment.rows(PARTITIONS) == names, "safe to repeat"
    later = next(name for (name,) in names if name[-1].isdigit())
    environment.rows(EARLIER.replace("uuidv7(make_interval(mins => -n))", in_partition(later)))
    assert environment.rows(f"SELECT count(*) FROM {later}") == [(5000,)]
    with pytest.raises(AssertionError, match="too late"):
        manage(environment, "partition_messages", "--undo")


def in_partition(name: str) -> str:
    """An expression for ids of the second day of a partition."""
    year, month = map(int, name.rsplit("_", 2)[1:])
    return f"uuidv7(timestamptz '{year}-{month}-02' - now() + make_interval(secs => n))"
