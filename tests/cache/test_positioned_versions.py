"""Versions in Redis with positions in the log of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis import Redis

from kernel.cache.redis_store import RedisVersionStore, key_of
from kernel.cache.shared_memory import new_version, position_of
from kernel.cache.versions import TagSnapshot

pytestmark = pytest.mark.processes
TAG, OTHER = "page:p1_a", "page:p1_b"
HIGH = 2**62


class Primary:
    """Its position, as a process sees it; 0: it does not answer."""

    def __init__(self) -> None:
        self.position, self.asked = 100, 0

    def __call__(self) -> int:
        self.asked += 1
        return self.position


@pytest.fixture
def redis(redis_url: str) -> Iterator[Redis]:
    redis = Redis.from_url(redis_url)
    redis.flushall()
    yield redis
    redis.close()


@pytest.fixture
def primary() -> Primary:
    return Primary()


@pytest.fixture
def store(redis: Redis, redis_url: str, primary: Primary) -> RedisVersionStore:
    return RedisVersionStore(redis_url, position=primary)


def positions(store: RedisVersionStore, *tags: str) -> list[int]:
    versions = store.read(tags)
    assert versions is not None
    return [position_of(version) for version in versions]


def test_a_new_tag_has_the_position_of_now_and_is_asked_for_once(store: RedisVersionStore, primary: Primary) -> None:
    assert positions(store, TAG, OTHER) == [100, 100]
    primary.position = 200
    assert positions(store, TAG, OTHER) == [100, 100]
    assert primary.asked == 1


def test_a_write_gives_its_tags_its_position_and_the_slower_of_two_writers_lowers_none(
    store: RedisVersionStore, primary: Primary
) -> None:
    positions(store, TAG, OTHER)
    for later in (201, 1_000, HIGH):
        primary.position = later
        store.bump((TAG,))
        before = store.read((TAG,))
        assert positions(store, TAG, OTHER) == [later, 100]
        primary.position = 200
        store.bump((TAG,))
        assert store.read((TAG,)) not in (None, before)
        assert positions(store, TAG, OTHER) == [later, 100]


def test_a_writer_without_a_position_makes_it_unknown_until_the_primary_answers(
    store: RedisVersionStore, primary: Primary
) -> None:
    positions(store, TAG)
    primary.position = 0
    store.bump((TAG,))
    assert positions(store, TAG) == [0]
    primary.position = 300
    store.read((TAG,))
    assert positions(store, TAG) == [300]


def test_a_host_without_standbys_makes_positions_unknown(
    store: RedisVersionStore, primary: Primary, redis_url: str
) -> None:
    """Its writes may be later than the position that a slower writer sets afterwards."""
    positions(store, TAG)
    RedisVersionStore(redis_url).bump((TAG,))
    primary.position = 0
    store.bump((TAG,))
    assert positions(store, TAG) == [0]
    assert RedisVersionStore(redis_url).read((TAG,)) == store.read((TAG,))


def test_versions_expire(store: RedisVersionStore, redis: Redis, primary: Primary) -> None:
    store.bump((TAG,))
    assert 0 < redis.ttl(key_of(TAG)) <= 600
    primary.position = 0
    store.bump((TAG,))
    primary.position = 100
    store.read((TAG,))
    assert 0 < redis.ttl(key_of(TAG)) <= 600


def test_the_position_of_a_snapshot_is_the_highest_or_unknown() -> None:
    tags = (TAG, OTHER)
    assert TagSnapshot(tags, (new_version(5), new_version(HIGH))).position == HIGH
    assert TagSnapshot(tags, (new_version(5), new_version())).position == 0
