"""Readers of the change log over a promotion: each gets every change once, in order, and none starts again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.cluster.environment import ClusterEnvironment, a_clustered_service
from tests.faults.load import Load
from tests.faults.run import Writers, wait_until_followed
from tests.streams.follower import Follower, ListFollower, StreamFollower

PAUSE_SECONDS = 0.05
FOLLOWERS: tuple[type[Follower], ...] = (StreamFollower, ListFollower)


@pytest.fixture(scope="module")
def environment() -> Iterator[ClusterEnvironment]:
    # The heartbeat lets a follower notice soon that its stream has ended.
    with a_clustered_service(WORKERS="1", STREAMS="1", STREAM_HEARTBEAT_SECONDS="1") as environment:
        yield environment


def test_a_promotion_hides_and_repeats_no_change(environment: ClusterEnvironment) -> None:
    writers, cluster = Writers.of(environment), environment.cluster
    tokens, page_id = writers.tokens[:3], writers.page_id
    load = Load(
        ports=[environment.service.port], tokens=tokens, page_id=page_id, roots=writers.roots, pause=PAUSE_SECONDS
    )
    with ExitStack() as following:
        followers = [following.enter_context(kind(environment.service, page_id)) for kind in FOLLOWERS]
        with load:
            load.wait_until_healthy()
            for follower in followers:
                wait_until_followed(follower, load.notes)
            cluster.primary.kill()
            cluster.promote()
            load.wait_until_healthy()
        assert not load.notes.surprises
        posts = {write.reply.json["id"] for write in load.notes.writes if "messages" in write.path and write.reply}
        for follower in followers:
            follower.wait_for(posts)
            assert posts <= set(follower.posts)
            assert len(follower.posts) == len(set(follower.posts))
            assert follower.is_in_order()
