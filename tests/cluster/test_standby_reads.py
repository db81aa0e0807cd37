"""Public reads on standbys: the primary hardly notices them, and none is older than an acknowledged write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from urllib.parse import quote

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.cluster.environment import ClusterEnvironment, a_clustered_service
from tests.cluster.postgres import Server
from tests.faults.load import Load
from tests.faults.run import PAGE_URL, Writers
from tests.remote import Remote, Reply
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes]

READS = 200
# Each of them asks a standby that may just have failed.
READS_BESIDE_A_FAILURE = 5
# The sum over the sessions that have told; each does at most once a second.
TRANSACTIONS = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
TELL = "SELECT pg_stat_force_next_flush()"
WRITES = 60
_reads = count()


@pytest.fixture(scope="module")
def environment() -> Iterator[ClusterEnvironment]:
    variables = {"READ_DATABASE_URL": "postgresql://postgres@STANDBYS/community", "METRICS_ALLOWED": "127.0.0.1"}
    with a_clustered_service(**variables, WORKERS="1") as environment:
        yield environment


@pytest.fixture(scope="module")
def writers(environment: ClusterEnvironment) -> Writers:
    return Writers.of(environment)


def read(environment: ClusterEnvironment, page_id: str) -> Reply:
    """Not cached: each read escapes other characters of the id."""
    number = next(_reads)
    spelled = "".join(f"%{ord(char):02X}" if number >> at & 1 else char for at, char in enumerate(page_id))
    return Remote(environment.service.port).call("GET", f"/api/messages?pageId={spelled}&limit=5")


def transactions(server: Server) -> int:
    with psycopg.connect(server.admin_url, autocommit=True) as session:
        session.execute(TELL)
        row = session.execute(TRANSACTIONS).fetchone()
    assert row
    return int(row[0])


def test_the_primary_has_less_than_a_tenth_of_the_reads(environment: ClusterEnvironment, writers: Writers) -> None:
    """On a busy machine the reads of one attempt may take so long that other processes use the primary more often."""
    assert eventually(lambda: is_read_on_standbys(environment, writers.page_id))
    assert eventually(lambda: transactions_of_primary(environment, writers) < READS / 10)


def reads_by_result(environment: ClusterEnvironment) -> Counter[str]:
    """As the metric says; it is up to a second old."""
    text = Remote(environment.service.port).call("GET", "/metrics").body.decode()
    families = {family.name: family.samples for family in text_string_to_metric_families(text)}
    samples = families.get("community_messaging_standby_reads", [])
    return Counter({sample.labels["result"]: int(sample.value) for sample in samples if sample.name.endswith("_total")})


def test_reads_are_counted_by_where_they_ran(environment: ClusterEnvironment, writers: Writers) -> None:
    assert eventually(lambda: is_counted(environment, writers, "standby"))
    with paused_replay(environment):
        post(environment, writers)
        # Standbys that are behind are left out for a moment.
        assert eventually(lambda: is_counted(environment, writers, "behind", "left_out"))


def is_counted(environment: ClusterEnvironment, writers: Writers, *results: str) -> bool:
    """Whether several reads have each of these results."""
    before = reads_by_result(environment)
    for _ in range(10):
        read(environment, writers.page_id)
    after = reads_by_result(environment)
    return all(after[result] > before[result] for result in results)


def transactions_of_primary(environment: ClusterEnvironment, writers: Writers) -> int:
    """While READS reads are served."""
    before = {server.name: transactions(server) for server in environment.cluster.servers}
    for _ in range(READS):
        assert read(environment, writers.page_id).status == 200
    standbys = environment.cluster.standbys
    assert eventually(lambda: sum(transactions(each) - before[each.name] for each in standbys) >= READS)
    primary = environment.cluster.primary
    return transactions(primary) - before[primary.name]


def test_no_read_is_older_than_an_acknowledged_write(environment: ClusterEnvironment, writers: Writers) -> None:
    """Each writer reads its posts back at once, through the cache and the standbys."""
    load = Load(
        ports=[environment.service.port],
        tokens=writers.tokens,
        page_id=writers.page_id,
        roots=writers.roots,
        pause=0.01,
    )
    with load:
        assert eventually(lambda: len(load.notes.writes) > WRITES)
    assert not load.notes.surprises
    assert load.notes.stale == 0


def test_searches_run_on_standbys_and_find_what_was_just_written(
    environment: ClusterEnvironment, writers: Writers
) -> None:
    """No cache tag names what a search may find."""

    def search() -> None:
        content = post(environment, writers)
        assert content in found(environment, content)

    assert eventually(lambda: run_on_standbys(environment, search))


def test_presence_counts_run_on_standbys_and_have_what_was_just_written(
    environment: ClusterEnvironment, writers: Writers
) -> None:
    counts = count(presence(environment) + 1)

    def compare() -> None:
        post(environment, writers)
        assert presence(environment) == next(counts)

    assert eventually(lambda: run_on_standbys(environment, compare))


def run_on_standbys(environment: ClusterEnvironment, read_something: Callable[[], None]) -> bool:
    """Whether more than half of several such reads did."""
    before = reads_by_result(environment)["standby"]
    for _ in range(10):
        read_something()
    return eventually(lambda: reads_by_result(environment)["standby"] - before > 5)


def found(environment: ClusterEnvironment, content: bytes) -> bytes:
    words = quote(content.decode())
    return Remote(environment.service.port).call("GET", f"/v1/search?q={words}").body


def presence(environment: ClusterEnvironment) -> int:
    """How many posts the page has."""
    reply = Remote(environment.service.port).call("POST", "/v1/presence/counts", {"urls": [PAGE_URL]})
    return int(reply.json["counts"][0]["posts"])


def test_a_standby_that_lags_is_left_out(environment: ClusterEnvironment, writers: Writers) -> None:
    with paused_replay(environment):
        content = post(environment, writers)
        assert content in read(environment, writers.page_id).body
    assert eventually(lambda: is_read_on_standbys(environment, writers.page_id))


@pytest.mark.parametrize("fault", [Server.freeze, Server.kill])
def test_a_standby_that_fails_is_left_out(
    environment: ClusterEnvironment, writers: Writers, fault: Callable[[Server], None]
) -> None:
    """The other one serves, and acknowledges writes; with both away the primary serves."""
    first, second = environment.cluster.standbys
    fault(first)
    try:
        for _ in range(READS_BESIDE_A_FAILURE):
            content = post(environment, writers)
            assert content in read(environment, writers.page_id).body
        fault(second)
        assert content in read(environment, writers.page_id).body
    finally:
        for standby in (first, second):
            if fault is Server.kill:
                standby.start()
            else:
                standby.thaw()
    environment.cluster.wait_for_standbys()
    assert eventually(lambda: is_read_on_standbys(environment, writers.page_id))


def post(environment: ClusterEnvironment, writers: Writers) -> bytes:
    content = f"read back {next(_reads)}"
    headers = {"Authorization": f"Bearer {writers.tokens[0]}"}
    body = {"pageId": writers.page_id, "content": content}
    assert Remote(environment.service.port).call("POST", "/api/messages", body, **headers).status == 201
    return content.encode()


def is_read_on_standbys(environment: ClusterEnvironment, page_id: str) -> bool:
    """Whether several reads have left the primary alone."""
    primary = environment.cluster.primary
    before = transactions(primary)
    standbys = sum(transactions(each) for each in environment.cluster.standbys)
    for _ in range(10):
        read(environment, page_id)
    return transactions(primary) - before < 10 and sum(map(transactions, environment.cluster.standbys)) > standbys


@contextmanager
def paused_replay(environment: ClusterEnvironment) -> Iterator[None]:
    for standby in environment.cluster.standbys:
        standby.ask("SELECT pg_wal_replay_pause()")
    paused = "SELECT pg_get_wal_replay_pause_state()"
    assert eventually(lambda: {each.ask(paused) for each in environment.cluster.standbys} == {"paused"})
    try:
        yield
    finally:
        for standby in environment.cluster.standbys:
            standby.ask("SELECT pg_wal_replay_resume()")
