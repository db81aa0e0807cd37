"""The worker, as a process, on the queue of a real PostgreSQL."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psutil
import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from procrastinate.contrib.django.models import ProcrastinateJob
from psycopg.conninfo import make_conninfo

from kernel.database.sql import execute, fetch_all
from kernel.jobs.models import JobNote
from kernel.jobs.queue import enqueue
from messaging.models import ExportStatus, PersonErasure, PersonExport, PostsChoice
from messaging.privacy.exports import request_export
from tests.factories import PersonFactory
from tests.waiting import PATIENCE_SECONDS, eventually

WORKER = "community-messaging worker"
pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.django_db(transaction=True)]
pytestmark.append(pytest.mark.usefixtures("empty_queue"))


@pytest.fixture
def worker() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts workers on the database of the test."""
    url = make_conninfo(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"])
    environment = os.environ | {"DATABASE_URL": url, "HOUSEKEEPING_MINUTES": "0"}
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        program = [sys.executable, "manage.py", "worker", *arguments]
        started.append(subprocess.Popen(program, cwd=settings.BASE_DIR, env=environment))
        return started[-1]

    yield start
    for process in started:
        process.terminate()
        process.wait()


def statuses() -> list[str]:
    return list(ProcrastinateJob.objects.order_by("pk").values_list("status", flat=True))


def processes_of(worker: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return psutil.Process(worker.pid).children()


def test_a_request_a_command_and_an_hour_that_has_come_are_carried_out(worker: Any) -> None:
    first, second, bystander = (PersonFactory() for _ in range(3))
    request_export(person=first)
    PersonErasure.objects.create(account=second, posts=PostsChoice.DELETED, due_at=Now() - timedelta(seconds=1))
    PersonErasure.objects.create(account=bystander, posts=PostsChoice.DELETED, due_at=Now() + timedelta(hours=1))
    enqueue("rollup_analytics")
    worker()
    assert eventually(lambda: PersonExport.objects.get().status == ExportStatus.READY)
    assert eventually(lambda: list(PersonErasure.objects.values_list("account", flat=True)) == [bystander.pk])
    assert eventually(lambda: statuses() == ["succeeded"] * 3)
    assert JobNote.objects.filter(error="").exclude(host="").count() == 3


def test_a_job_goes_on_after_the_kill_of_its_worker_and_its_process_ends(worker: Any) -> None:
    request_export(person=PersonFactory())
    with psycopg.connect(make_conninfo(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"])) as other:
        # The job waits for the row.
        other.execute("SELECT 1 FROM messaging_personexport FOR UPDATE")
        killed = worker()
        assert eventually(lambda: statuses() == ["doing"] and bool(processes_of(killed)))
        (child,) = processes_of(killed)
        killed.send_signal(signal.SIGKILL)
    assert eventually(lambda: not child.is_running())
    PersonExport.objects.update(status=ExportStatus.WAITING)
    execute("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 minute'")
    worker()
    assert eventually(lambda: PersonExport.objects.get().status == ExportStatus.READY)
    assert eventually(lambda: statuses() == ["succeeded"])


def test_two_workers_run_a_job_once_and_survive_the_loss_of_their_connections(worker: Any) -> None:
    for _ in range(2):
        worker()
    assert eventually(lambda: fetch_all("SELECT count(*) FROM procrastinate_workers") == [(4,)])
    execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s", [WORKER])
    exports = [request_export(person=PersonFactory()) for _ in range(3)]
    assert eventually(lambda: statuses() == ["succeeded"] * 3)
    assert set(PersonExport.objects.values_list("pk", "status", "attempts")) == {
        (export.pk, ExportStatus.READY, 1) for export in exports
    }


def test_a_worker_stops_when_its_parent_has_ended(worker: Any) -> None:
    assert worker("--parent", "1").wait(PATIENCE_SECONDS) == 0
