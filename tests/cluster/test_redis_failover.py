"""Redis Sentinel: versions and throttles follow the master, and no host trusts versions that it cannot read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.exceptions import ImproperlyConfigured
from django_redis.cache import RedisCache

from kernel.cache.django_cache import caches
from kernel.cache.redis_clients import sentinels
from kernel.cache.redis_store import RedisVersionStore
from tests.cluster.redis_cluster import RedisCluster
from tests.waiting import eventually

TAGS = ("page:p1_a",)


@pytest.fixture
def cluster() -> Iterator[RedisCluster]:
    cluster = RedisCluster()
    yield cluster
    cluster.close()


@pytest.mark.slow
@pytest.mark.processes
def test_versions_and_soft_throttles_follow_a_killed_master(cluster: RedisCluster) -> None:
    here, there = RedisVersionStore(cluster.url), RedisVersionStore(cluster.url)
    counting, counting_too = cache_of(cluster), cache_of(cluster)
    before = here.read(TAGS)
    assert before is not None
    assert there.read(TAGS) == before
    counting.add("throttle:a", 1, timeout=60)
    assert counting_too.incr("throttle:a") == 2
    cluster.processes[cluster.first].kill()
    here.bump(TAGS)
    assert here.read(TAGS) is None
    cluster.wait_for_failover(cluster.first)
    assert eventually(lambda: here.read(TAGS) is not None)
    # The bump of the time without a master was repeated.
    after = here.read(TAGS)
    assert after not in (None, before)
    assert eventually(lambda: there.read(TAGS) == after)
    assert eventually(lambda: answers(counting) and answers(counting_too))
    counting.set("throttle:b", 1, timeout=60)
    assert counting_too.incr("throttle:b") == 2


@pytest.mark.slow
@pytest.mark.processes
def test_a_frozen_master_that_resumes_is_not_used(cluster: RedisCluster) -> None:
    here, there = RedisVersionStore(cluster.url), RedisVersionStore(cluster.url)
    here.read(TAGS)
    there.read(TAGS)
    cluster.freeze(cluster.first)
    try:
        cluster.wait_for_failover(cluster.first)
        assert eventually(lambda: here.read(TAGS) is not None)
    finally:
        cluster.thaw(cluster.first)
    assert eventually(lambda: cluster.is_replica(cluster.first))
    here.bump(TAGS)
    bumped = here.read(TAGS)
    assert bumped is not None
    assert eventually(lambda: there.read(TAGS) == bumped)


def cache_of(cluster: RedisCluster) -> RedisCache:
    parameters = caches(cluster.url)["default"]
    return RedisCache(parameters["LOCATION"], parameters)


def answers(cache: RedisCache) -> bool:
    try:
        cache.get("probe")
    except Exception:  # noqa: BLE001  the cache backends share no error class
        return False
    return True


def test_an_address_of_sentinels() -> None:
    found = sentinels("sentinel://user:p%40ss@a.example:26380,b/cm/3")
    assert found is not None
    assert (found.hosts, found.master, found.db) == ((("a.example", 26380), ("b", 26379)), "cm", 3)
    assert found.credentials == {"username": "user", "password": "p@ss"}


def test_a_wrong_address_is_refused_without_its_password() -> None:
    for address in ("a", "a:0/cm", "a:x/cm", "a,,b/cm", "a b/cm", ":s3cret@/cm", "a/cm/x", "a/cm?db=s3cret", "[a/cm"):
        with pytest.raises(ImproperlyConfigured, match="REDIS_URL cannot be read") as refused:
            caches(f"sentinel://{address}")
        assert "s3cret" not in str(refused.value), address
