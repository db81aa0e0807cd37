"""What is counted, where, and what becomes of the counts of processes that have ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.db import connection
from django.test import Client, RequestFactory
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from kernel.api.operations import all_operations
from kernel.database.sql import fetch_all
from kernel.metrics import definitions, exposition, files, wsgi
from kernel.metrics.definitions import Changes, DurationCounts
from kernel.metrics.exposition import CACHE, OPERATION, REQUESTS, STATUS
from kernel.metrics.wsgi import count_requests
from tests.agents.factories import TokenHolder, agent_with_token
from tests.factories import PageFactory
from tests.operations.values import value
from tests.service import ROOT
from tests.sessions import in_background
from tests.waiting import PATIENCE_SECONDS, eventually

BOUNDS = (0.1, 1.0)


class TestDurations:
    @hypothesis_settings(max_examples=40)
    @given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 5)), max_size=60), st.integers(1, 10))
    def test_each_observation_is_in_one_bucket_and_is_taken_once(
        self, observations: list[tuple[str, float]], step: int
    ) -> None:
        counts = DurationCounts(BOUNDS)
        changes, taken, seconds = Changes(counts), dict.fromkeys("ab", 0), dict.fromkeys("ab", 0.0)
        for index, (key, duration) in enumerate(observations):
            counts.add(key, duration)
            for name, buckets, total in changes.take() if index % step == 0 else ():
                taken[name] += sum(buckets)
                seconds[name] += total
        for name, buckets, total in changes.take():
            taken[name] += sum(buckets)
            seconds[name] += total
        assert taken == {key: sum(name == key for name, _ in observations) for key in "ab"}
        assert seconds == pytest.approx({key: sum(d for name, d in observations if name == key) for key in "ab"})

    def test_a_bound_belongs_to_its_bucket(self) -> None:
        counts = DurationCounts(BOUNDS)
        for seconds, buckets in (
            (0.0, [1, 0, 0]),
            (0.1, [2, 0, 0]),
            (0.11, [2, 1, 0]),
            (1.0, [2, 2, 0]),
            (1.1, [2, 2, 1]),
        ):
            counts.add("x", seconds)
            assert counts.totals()["x"][:3] == buckets

    def test_threads_lose_no_count_also_after_their_end(self) -> None:
        counts = DurationCounts(BOUNDS)

        def work() -> None:
            for _ in range(2_000):
                counts.add("x", 0.5)

        for _round in range(2):
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            counts.totals()
            for thread in threads:
                thread.join(PATIENCE_SECONDS)
        assert counts.totals()["x"][:3] == [0, 16_000, 0]
        assert not counts._threads


class TestRequests:
    def call(self, set_up: Callable[[dict[str, Any]], None], status: str = "200", path: str = "/x") -> None:
        def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            environ[STATUS] = status
            set_up(environ)
            start_response(status, [])
            return [b""]

        list(count_requests(application)(RequestFactory().get(path).environ, lambda *_: None))

    def test_a_response_is_counted_by_operation_status_and_cache_result(self) -> None:
        before = value("requests_total", operation="testOperation", status="304")
        hits = value("response_cache_results_total", result="hit")
        self.call(lambda environ: environ.update({OPERATION: "testOperation", CACHE: "hit"}), "304")
        assert value("requests_total", operation="testOperation", status="304") == before + 1
        assert value("response_cache_results_total", result="hit") == hits + 1
        assert value("request_seconds_count", operation="testOperation") >= 1
        # The counts of a process are added once.
        REQUESTS.add(("testOperation", "304", None), 0.1)
        for _ in range(2):
            assert value("requests_total", operation="testOperation", status="304") == before + 2

    def test_what_no_view_answers_has_one_of_two_names(self) -> None:
        for path, operation in (("/static/embed/base.css", "static"), ("/a/b?c", "other")):
            before = value("requests_total", operation=operation, status="404")
            self.call(lambda _environ: None, "404", path)
            assert value("requests_total", operation=operation, status="404") == before + 1

    def test_an_exception_counts_as_500(self) -> None:
        def fail(environ: dict[str, Any]) -> None:
            del environ[STATUS]
            raise RuntimeError

        before = value("requests_total", operation="other", status="500")
        with pytest.raises(RuntimeError):
            self.call(fail)
        assert value("requests_total", operation="other", status="500") == before + 1


@pytest.mark.django_db
def test_a_refusal_is_counted_by_its_code_and_a_limit_by_its_name(settings: Any) -> None:
    refused, limited = value("refusals_total", code="not_found"), value("limits_hit_total", limit="normalize_url")
    Client().get("/nowhere")
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"normalize_url": (0, 60)}
    response = Client().post(
        "/v1/presence/normalize-url", {"url": "https://example.com/"}, content_type="application/json"
    )
    assert response.status_code == 429
    assert value("refusals_total", code="not_found") == refused + 1
    assert value("limits_hit_total", limit="normalize_url") == limited + 1


@pytest.mark.django_db
def test_labels_have_bounded_values() -> None:
    """The operation is one of the declared ones or of three names."""
    for path, operation in (
        ("/v1/smart-tags", "listSmartTags"),
        ("/api/messages/01990000-0000-7000-8000-000000000000", "getMessage"),
        ("/docs/errors/", "page"),
    ):
        assert Client().get(path).wsgi_request.META[OPERATION] == operation
    names = {operation.id for _path, _method, operation in all_operations()} | {"page", "static", "other"}
    for path in ("/v1/nothing-" + "x" * 50, "/api/messages/not-a-uuid", "/p/../../etc", "/docs/errors/secret"):
        assert Client().get(path).wsgi_request.META.get(OPERATION, "other") in names


def write_metrics(folder: Path, code: str) -> None:
    """In a process of its own, which has ended afterwards."""
    subprocess.run(
        [sys.executable, "-c", f"from kernel.metrics import definitions\n{code}"],
        cwd=ROOT,
        env=os.environ | {files.VARIABLE: str(folder)},
        check=True,
    )


def samples(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    monkeypatch.setenv(files.VARIABLE, str(folder))
    families = text_string_to_metric_families(exposition.text().decode())
    return {
        sample.name.removeprefix(definitions.NAMESPACE + "_") + json.dumps(sample.labels): sample.value
        for family in families
        for sample in family.samples
    }


@pytest.mark.processes
def test_counts_of_ended_processes_stay_and_their_gauges_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
definitions.restarts.labels("web").inc(2)
definitions.statement_seconds.add([1] + 13 * [0] + [2], 25.5)
definitions.streams_open.set(7)
definitions.log_read_at.set({})
"""
    for time in (20, 10, 5):
        write_metrics(tmp_path, code.format(time))
    found = samples(tmp_path, monkeypatch)
    assert found == samples(tmp_path, monkeypatch)
    assert found['process_restarts_total{"process": "web"}'] == 6
    assert found["statement_seconds_count{}"] == 9
    assert found["statement_seconds_sum{}"] == 76.5
    assert found['statement_seconds_bucket{"le": "0.0005"}'] == 3
    assert found["change_log_read_timestamp_seconds{}"] == 20
    assert "streams_open{}" not in found
    assert not list(tmp_path.glob("gauge_live*"))


def test_a_start_deletes_the_files_of_the_last_run_but_not_those_of_running_processes(tmp_path: Path) -> None:
    """The last run in a container had the process id of this one."""
    names = (os.getppid(), os.getpid(), 999_999_999, "ended")
    found = [tmp_path / f"counter_{name}.db" for name in names]
    for file in found:
        file.touch()
    files.clear(tmp_path)
    assert [file.exists() for file in found] == [True, False, False, False]


def test_the_folder_is_chosen_before_the_library_is_imported(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="imported before"):
        files.share(tmp_path)


@pytest.mark.processes
def test_the_main_process_does_not_import_the_library_before_the_folder_is_known() -> None:
    code = "import sys, runtime.run, runtime.streams; sys.exit('prometheus_client' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_each_nth_successful_read_has_a_line_and_every_other_request(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ACCESS_LOG_READS = 3
    logged: list[str] = []
    monkeypatch.setattr(
        wsgi, "log", lambda environ, _seconds: logged.append(environ["REQUEST_METHOD"] + environ[STATUS])
    )
    application = wsgi.log_requests(lambda _environ, _start: [])
    for method, status in [("GET", "200"), ("GET", "404"), ("POST", "201")] * 6:
        application({"REQUEST_METHOD": method, STATUS: status, "PATH_INFO": "/"}, lambda *_: None)
    assert Counter(logged) == {"GET200": 2, "GET404": 6, "POST201": 6}


def test_every_metric_has_a_help_text() -> None:
    text = generate_latest(exposition.registry()).decode()
    for line in text.splitlines():
        if line.startswith("# HELP"):
            assert len(line.split(" ", 3)[3]) > 10, line


# What happens in a request and with the database moves the metric of it.


POSTS = "/api/messages"


@pytest.mark.django_db
class TestWrites:
    def post(self, agent: TokenHolder, page_id: str, content: str = "Once", key: str = "a-key-of-this-test") -> int:
        return agent.api.post(POSTS, {"pageId": page_id, "content": content}, key=key).status

    def test_a_replay_is_counted_by_whether_the_body_was_the_same(self) -> None:
        agent, page_id = agent_with_token(), str(PageFactory().pk)
        same, other = (value("idempotent_replays_total", same_body=label) for label in ("yes", "no"))
        assert [self.post(agent, page_id) for _ in range(3)] == [201] * 3
        assert self.post(agent, page_id, "Twice") == 201
        assert value("idempotent_replays_total", same_body="yes") == same + 2
        assert value("idempotent_replays_total", same_body="no") == other + 1

    def test_an_hourly_limit_is_counted_by_its_name(self, settings: Any) -> None:
        settings.HOURLY_LIMITS = settings.HOURLY_LIMITS | {"post": 1}
        agent, page_id = agent_with_token(), str(PageFactory().pk)
        before, refused = value("limits_hit_total", limit="post"), value("refusals_total", code="agent_rate_limited")
        assert [self.post(agent, page_id, key=f"key-{number}-of-this-test") for number in range(3)] == [201, 429, 429]
        assert value("limits_hit_total", limit="post") == before + 2
        assert value("refusals_total", code="agent_rate_limited") == refused + 2


@pytest.mark.django_db
class TestStatements:
    def test_both_ways_to_run_a_statement_are_counted_with_their_time(self, settings: Any) -> None:
        settings.METRICS = True
        count, seconds = value("statement_seconds_count"), value("statement_seconds_sum")
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.01)")
        fetch_all("SELECT pg_sleep(0.01)")
        assert value("statement_seconds_count") == count + 2
        assert value("statement_seconds_sum") >= seconds + 0.02

    def test_a_slow_statement_is_counted(self, settings: Any) -> None:
        before = value("slow_statements_total")
        settings.SLOW_STATEMENT_MS = 0
        fetch_all("SELECT pg_sleep(0.01)")
        assert value("slow_statements_total") == before
        settings.SLOW_STATEMENT_MS = 1
        fetch_all("SELECT pg_sleep(0.01)")
        assert value("slow_statements_total") == before + 1


@pytest.mark.django_db(transaction=True)
def test_a_connection_is_counted_while_it_is_open_and_once_for_ever() -> None:
    fetch_all("SELECT 1")
    opened, now_open = value("database_connections_opened_total"), value("database_connections")
    release = Event()

    def use_a_connection() -> None:
        fetch_all("SELECT 1")
        assert release.wait(PATIENCE_SECONDS)

    with ThreadPoolExecutor(1) as pool:
        future = in_background(pool, use_a_connection)
        assert eventually(lambda: value("database_connections_opened_total") == opened + 1)
        assert value("database_connections") == now_open + 1
        release.set()
        future.result(PATIENCE_SECONDS)
    assert value("database_connections") == now_open
    assert value("database_connections_opened_total") == opened + 1
