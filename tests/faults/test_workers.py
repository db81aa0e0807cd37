"""The service replaces workers that die."""

from __future__ import annotations

import time

import pytest

from tests.remote import Remote
from tests.service import running_service
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.processes]


def test_worker_is_replaced_after_each_kill() -> None:
    with running_service() as service:
        for _ in range(3):
            [worker] = service.workers()
            worker.kill()
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not _answers(service.port):
                assert service.process
                assert service.process.poll() is None, service.said()
                assert time.monotonic() < deadline, "no worker started in time"
                time.sleep(0.02)


def _answers(port: int) -> bool:
    try:
        return Remote(port).call("GET", "/v1/smart-tags").status == 200
    except OSError:
        return False
