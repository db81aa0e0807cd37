"""How the response cache is filled: by one thread at a time, for a limited time, and never with an older response."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import transaction
from django.http import HttpResponse

from kernel.cache import memory
from kernel.cache.memory import ResponseStore
from kernel.cache.versions import EVERYTHING, TagSnapshot, invalidate, snapshot
from kernel.cache.wsgi import ResponseCache
from tests.agents.racing import race
from tests.cache.conftest import environ_of
from tests.fresh_settings import fresh_settings
from tests.waiting import eventually

pytestmark = pytest.mark.django_db(transaction=True)
TAG = "page:of-this-test"


class Application:
    """A WSGI application that counts its calls, behind the response caches of several workers."""

    def __init__(self, *, workers: int = 1, seconds: float = 60, during: Callable[[], object] = lambda: None) -> None:
        self.calls, self._during = 0, during
        stores = [ResponseStore(bytes_max=100_000, seconds=seconds) for _ in range(workers)]
        self.workers = [ResponseCache(self, store, lambda _path: frozenset()) for store in stores]

    def __call__(self, environ: Any, start_response: Any) -> HttpResponse:
        self.calls += 1
        response = HttpResponse(b"%d" % self.calls, headers={"ETag": f'"{self.calls}"'})
        response.cache_snapshot = snapshot(TAG)  # type: ignore[attr-defined]
        self._during()
        start_response("200 OK", list(response.items()))
        return response

    def read(self, worker: int = 0) -> bytes:
        return b"".join(self.workers[worker](environ_of("/api/x"), lambda *_: None))


def test_a_response_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    application, began = Application(seconds=60), time.monotonic()
    for passed in (0, 59, 61):
        monkeypatch.setattr(memory, "time", SimpleNamespace(monotonic=lambda: began + passed))  # noqa: B023
        application.read()
    assert application.calls == 2


def test_one_thread_at_a_time_fills_a_key() -> None:
    application = Application(during=lambda: eventually(lambda: len(reading) == 8))
    reading: list[int] = []

    def read(number: int) -> bytes:
        reading.append(number)
        return application.read()

    assert race(8, read) == [b"1"] * 8
    assert application.calls == 1


def test_a_write_during_a_fill_invalidates_its_response() -> None:
    application = Application(during=lambda: invalidate(TAG))
    assert [application.read() for _ in range(3)] == [b"1", b"2", b"3"]


def test_a_write_invalidates_the_responses_of_every_worker() -> None:
    application = Application(workers=2)
    assert [application.read(worker) for worker in (0, 1, 0, 1)] == [b"1", b"2", b"1", b"2"]
    invalidate(TAG)
    assert [application.read(worker) for worker in (0, 1, 0, 1)] == [b"3", b"4", b"3", b"4"]


# Snapshots of cache tags, and when an invalidation takes effect.


def taken(tag: str) -> TagSnapshot:
    result = snapshot(tag)
    assert result is not None
    return result


def test_an_invalidation_takes_effect_at_the_commit_and_not_after_a_rollback() -> None:
    before = taken("page:p1_committed")
    with transaction.atomic():
        invalidate("page:p1_committed")
        transaction.set_rollback(True)
    assert before.is_valid()
    with transaction.atomic():
        invalidate("page:p1_committed")
        assert before.is_valid()
    assert not before.is_valid()


def test_everything_is_a_tag_of_every_response() -> None:
    before = taken("page:p1_x")
    invalidate(EVERYTHING)
    assert not before.is_valid()


MEGABYTE = 1024 * 1024


def test_the_name_of_release_1_0_is_read_if_the_new_one_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    new, old = "RESPONSE_CACHE_MEGABYTES", "KEPT_ANSWER_MEGABYTES"
    for environment, megabytes in (({}, 32), ({new: "16"}, 16), ({old: "8"}, 8), ({new: "0", old: "8"}, 0)):
        with monkeypatch.context() as patch:
            for name in (new, old):
                patch.delenv(name, raising=False)
            assert fresh_settings(patch, environment)["RESPONSE_CACHE_BYTES"] == megabytes * MEGABYTE
