"""What one worker has made is served by the others, and never longer or to anybody else than by the first."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from django.http import HttpResponse
from hypothesis import given
from hypothesis import strategies as st

from config.api.freshness import home, watch
from config.entry_cache import EntryCached, shared
from config.entry_cache.memory import EntryCache, Kept
from config.entry_cache.shared import SIZE, SLOT_BYTES, SharedAnswers
from config.mapped_files import mapped
from tests.service import ROOT

pytestmark = pytest.mark.django_db(transaction=True)
KEY = ("/api/x", "", "", "", "")


class Service:
    """An application that counts how often it is asked, and the workers before it."""

    def __init__(self, *, workers: int = 2, status: int = 200, seconds: float = 0.0) -> None:
        self.asked, self.begun = 0, Event()
        self.status, self.seconds = status, seconds
        memory = memoryview(bytearray(SIZE))
        self.workers = [
            EntryCached(self, EntryCache(bytes_max=1_000_000, seconds=60), SharedAnswers(memory, seconds=60))
            for _ in range(workers)
        ]

    def __call__(self, environ: Any, start_response: Any) -> HttpResponse:
        self.asked += 1
        self.begun.set()
        watched = watch("page:shared")
        time.sleep(self.seconds)
        response = HttpResponse(b"number %d" % self.asked, status=self.status, headers={"ETag": f'"{self.asked}"'})
        response.watched = watched  # type: ignore[attr-defined]
        start_response(f"{self.status} Said", list(response.items()))
        return response

    def read(self, worker: int, path: str = "/api/x") -> tuple[str, dict[str, str], bytes]:
        heads: list[Any] = []
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path}
        body = b"".join(self.workers[worker](environ, lambda *head: heads.append(head)))
        return heads[0][0], dict(heads[0][1]), body


def test_what_one_worker_has_made_the_others_serve() -> None:
    service = Service(workers=3)
    assert service.read(0) == service.read(1) == service.read(2)
    assert service.read(1)[2] == b"number 1"
    assert service.asked == 1


def test_nobody_serves_what_a_write_has_made_worthless() -> None:
    service = Service()
    service.read(0)
    home().renew(("page:shared",))
    assert [service.read(worker)[2] for worker in (1, 0)] == [b"number 2", b"number 2"]
    assert service.asked == 2


def test_workers_that_need_the_same_at_once_make_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "CLAIM_SECONDS", 10)
    service = Service(seconds=0.02)
    first = Thread(target=service.read, args=[0])
    first.start()
    service.begun.wait()
    assert service.read(1)[2] == b"number 1"
    first.join()
    assert service.asked == 1


def test_a_worker_that_died_at_it_holds_nobody_up_for_long() -> None:
    service = Service()
    SharedAnswers(service.workers[0]._shared._memory, seconds=60).find_or_claim(KEY)
    assert service.read(1)[2] == b"number 1"


def test_what_is_not_kept_is_waited_for_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(status=404)
    monkeypatch.setattr(shared, "LOOK_SECONDS", -1)
    assert [service.read(worker)[0] for worker in (0, 1, 0)] == ["404 Said"] * 3
    assert service.asked == 3


def test_two_keys_in_one_slot_each_get_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "SLOTS", 1)
    service = Service(workers=3)
    assert service.read(0, "/api/x")[2] == b"number 1"
    assert service.read(1, "/api/y")[2] == b"number 2"
    assert service.read(2, "/api/x")[2] == b"number 3"


def an_answer(body: bytes = b"body", *, until: float = 30) -> Kept:
    watched = watch("page:shared")
    assert watched
    return Kept(watched, time.monotonic() + until, "200 OK", [("ETag", '"tag"')], body, '"tag"')


@pytest.mark.parametrize(("size", "is_shared"), [(SLOT_BYTES - 400, True), (SLOT_BYTES, False)])
def test_a_large_answer_stays_ones_own(size: int, is_shared: bool) -> None:
    answers, large = SharedAnswers(memoryview(bytearray(SIZE)), seconds=60), an_answer(b"x" * size)
    answers.give(KEY, large)
    assert answers.find_or_claim(KEY) == (large if is_shared else None)


def test_what_an_earlier_start_of_the_host_left_is_not_served() -> None:
    answers = SharedAnswers(memoryview(bytearray(SIZE)), seconds=60)
    answers.give(KEY, an_answer(until=3600))
    assert answers.find_or_claim(KEY) is None


@given(damage=st.lists(st.tuples(st.integers(0, 300), st.integers(1, 255)), min_size=1, max_size=40))
def test_what_is_read_half_written_counts_as_nothing(damage: list[tuple[int, int]]) -> None:
    memory = memoryview(bytearray(SIZE))
    answers, kept = SharedAnswers(memory, seconds=60), an_answer(b"x" * 100)
    answers.give(KEY, kept)
    start = shared._Place.of(KEY).start
    for place, change in damage:
        memory[start + place] ^= change
    assert answers.find_or_claim(KEY) in (None, kept)


def test_it_is_shared_between_processes(tmp_path: Path) -> None:
    """One process gives, another one finds."""
    script = """
import sys
from pathlib import Path
import django
django.setup()
from config.mapped_files import mapped
from tests.kernel.test_shared_answers import KEY, SIZE, SharedAnswers, an_answer
SharedAnswers(mapped(Path(sys.argv[1]), SIZE), seconds=60).give(KEY, an_answer(b"from afar"))
"""
    memory = mapped(tmp_path / "answers", SIZE)
    assert memory
    subprocess.run([sys.executable, "-c", script, tmp_path / "answers"], cwd=ROOT, check=True)
    found = SharedAnswers(memory, seconds=60).find_or_claim(KEY)
    assert found
    assert found.body == b"from afar"
