"""The queue: what is enqueued, run, tried again and given up, and its page of the desk."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from procrastinate.contrib.django.models import ProcrastinateJob

from kernel.database.sql import execute
from kernel.jobs import queue, worker
from kernel.jobs.models import JobNote, QueuedJob
from kernel.jobs.queue import enqueue
from kernel.probes import readiness
from messaging.models import ExportStatus, PersonExport
from messaging.privacy.exports import request_export
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_queue")]


@pytest.fixture
def desk() -> Client:
    client = Client()
    client.force_login(SuperAdminFactory())
    return client


def states() -> list[tuple[str, str]]:
    return list(ProcrastinateJob.objects.order_by("pk").values_list("task_name", "status"))


def press(client: Client, name: str) -> str:
    url = f"/admin/jobs/queuedjob/{ProcrastinateJob.objects.get().pk}/{name}/"
    return client.post(url, {"confirmed": "1", "reason": "Because."}, follow=True).content.decode()


def test_a_job_that_waits_is_enqueued_once_and_one_of_a_cause_that_is_undone_never() -> None:
    for _ in range(2):
        enqueue("prune")
    with transaction.atomic():
        enqueue("rollup_analytics")
        transaction.set_rollback(True)
    assert states() == [("prune", "todo")]


def test_rows_without_a_job_are_found_but_not_those_whose_job_was_given_up() -> None:
    first, second = (PersonExport.objects.create(account=PersonFactory()) for _ in range(2))
    for _ in range(2):
        queue.enqueue_found()
    assert {lock for (lock,) in ProcrastinateJob.objects.values_list("lock")} == {
        f"exports {first.pk}",
        f"exports {second.pk}",
    }
    queue.give_up(ProcrastinateJob.objects.get(lock=f"exports {first.pk}"))
    queue.enqueue_found()
    assert sorted(status for _name, status in states()) == ["cancelled", "todo"]


def test_a_job_takes_the_lease_of_a_process_that_has_ended_and_stores_why_it_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    export = request_export(person=PersonFactory())
    assert PersonExport.objects.filter(pk=export.pk).lease() is not None
    job = ProcrastinateJob.objects.get()
    JobNote.objects.create(job_id=job.pk)
    options: dict[str, Any] = {"key": str(export.pk), "job": job.pk}
    with monkeypatch.context() as patch:
        patch.setattr("messaging.privacy.archive.sections_of", lambda _account: 1 / 0)
        with pytest.raises(SystemExit):
            call_command("run_job", "exports", **options)
    assert JobNote.objects.get().error == "ZeroDivisionError: division by zero"
    call_command("run_job", "exports", **options)
    assert PersonExport.objects.get().status == ExportStatus.READY


@pytest.mark.parametrize(
    ("minutes", "cron"),
    [(1, "*/1 * * * *"), (7, "*/6 * * * *"), (60, "0 */1 * * *"), (90, "0 */1 * * *"), (1440, "0 0 * * *")],
)
def test_an_interval_becomes_a_schedule(minutes: int, cron: str) -> None:
    assert queue.cron_of(minutes) == cron


def test_the_desk_shows_the_queue_and_runs_and_gives_up_jobs(desk: Client) -> None:
    enqueue("prune")
    execute("UPDATE procrastinate_jobs SET attempts = 1, scheduled_at = now() + interval '1 hour'")
    JobNote.objects.create(job_id=ProcrastinateJob.objects.get().pk, host="web-1", error="OSError: no space")
    shown = desk.get("/admin/jobs/queuedjob/").content.decode()
    assert all(text in shown for text in ("failing", "web-1", "OSError: no space", "make_partitions"))
    assert "runs as soon as" in press(desk, "retry")
    assert ProcrastinateJob.objects.get().scheduled_at is None
    assert "given up" in press(desk, "give-up")
    assert states() == [("prune", "cancelled")]
    assert "Nothing was changed" in press(desk, "give-up")
    assert QueuedJob.objects.count() == 1


def test_no_worker_anywhere_is_told_and_takes_no_host_out(settings: Any) -> None:
    settings.WORKER, settings.STREAMS = True, False
    assert readiness.check() == readiness.State((), ("worker",))
    execute("SELECT procrastinate_register_worker_v1()")
    assert readiness.check() == readiness.State()


def test_a_deliverer_runs_with_its_setting_and_again_after_a_defect(
    settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.WEBHOOKS = settings.MAIL_IS_SENT = False
    assert worker.deliverers() == []
    settings.WEBHOOKS = True
    assert worker.deliverers() == ["messaging.webhooks.deliverer.Deliverer"]

    async def serve() -> None:
        stop = asyncio.Event()
        runs: list[str] = []

        class Defect:
            async def run(self) -> None:
                runs.append("run")
                if len(runs) == 2:
                    stop.set()
                    await asyncio.sleep(0)
                raise RuntimeError("a defect")

            def stop(self) -> None:
                runs.append("stop")

        monkeypatch.setattr(worker, "AWAY_SECONDS", 0)
        monkeypatch.setattr(worker, "import_string", lambda _path: Defect)
        await worker.deliver("of.a.test", stop)
        assert runs == ["run", "run", "stop"]

    asyncio.run(serve())
    assert caplog.text.count("of.a.test has ended") == 2
