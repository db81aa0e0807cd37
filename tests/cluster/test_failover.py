"""A primary that ends and a standby that is promoted: nothing acknowledged is lost, and the service goes on.

Readers of the change log get every change once, in order, and none starts again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.cluster.environment import ClusterEnvironment, a_clustered_service
from tests.faults.invariants import Verdict, judge, ledger
from tests.faults.load import Load
from tests.faults.notes import Notes
from tests.faults.run import Writers, wait_until_followed
from tests.remote import Remote
from tests.streams.follower import Follower, ListFollower, StreamFollower
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes]

PAUSE_SECONDS = 0.1
LOST_ANSWERS = 0.05
# No request waits for ever: for a frozen server STATEMENT_TIMEOUT and two seconds, twice if the response is cached, and
# for each host that a new connection tries three; more on a busy machine.
SLOWEST_SECONDS = 60
FOLLOWERS: tuple[type[Follower], ...] = (StreamFollower, ListFollower)


@pytest.fixture(scope="module")
def environment() -> Iterator[ClusterEnvironment]:
    # The heartbeat lets a follower notice soon that its stream has ended.
    streams = {"STREAMS": "1", "STREAM_HEARTBEAT_SECONDS": "1"}
    with a_clustered_service(STATEMENT_TIMEOUT="2500", WORKERS="1", **streams) as environment:
        yield environment


def test_failovers_lose_and_double_no_write(environment: ClusterEnvironment) -> None:
    """One test and one load, because starting the cluster dominates its duration."""
    writers, charged = Writers.of(environment), ledger(environment)
    notes = play(environment, writers)
    assert not notes.surprises
    assert set(notes.statuses) <= {200, 201, 409, 503}
    assert judge(environment, notes.writes, charged_before=charged) == Verdict()
    assert len(notes.writes) >= len(FAULTS) * len(writers.tokens)
    assert notes.slowest < SLOWEST_SECONDS


def play(environment: ClusterEnvironment, writers: Writers) -> Notes:
    """Under load: each fault, and a promotion. The old primary comes back as a standby where none would be left."""
    cluster, page_id = environment.cluster, writers.page_id
    ports = [environment.service.port]
    load = Load(ports=ports, tokens=writers.tokens, page_id=page_id, roots=writers.roots, pause=PAUSE_SECONDS)
    with ExitStack() as following:
        followers = [following.enter_context(kind(environment.service, page_id)) for kind in FOLLOWERS]
        with load:
            load.lose_answers(LOST_ANSWERS)
            load.wait_until_healthy()
            for fault in FAULTS:
                for follower in followers:
                    wait_until_followed(follower, load.notes)
                old = cluster.primary
                fault(environment)
                cluster.promote()
                if not any(standby.is_running() for standby in cluster.standbys):
                    cluster.rejoin(old)
                load.wait_until_healthy()
        for follower in followers:
            check_follower(follower, load.notes)
    return load.notes


def check_follower(follower: Follower, notes: Notes) -> None:
    posts = {write.reply.json["id"] for write in notes.writes if write.path == "/api/messages" and write.reply}
    follower.wait_for(posts)
    assert posts <= set(follower.posts)
    assert len(follower.posts) == len(set(follower.posts))
    assert follower.is_in_order()


def primary_killed(environment: ClusterEnvironment) -> None:
    environment.cluster.primary.kill()


def primary_stopped(environment: ClusterEnvironment) -> None:
    environment.cluster.primary.stop("fast")


def primary_frozen(environment: ClusterEnvironment) -> None:
    """It accepts connections and answers nothing. `/readyz` says so; then the operator ends it."""
    environment.cluster.primary.freeze()
    remote = Remote(environment.service.port)
    assert eventually(lambda: remote.call("GET", "/readyz").json["missing"] == ["database"])
    environment.cluster.primary.kill()


FAULTS: tuple[Callable[[ClusterEnvironment], None], ...] = (primary_killed, primary_stopped, primary_frozen)
