"""The environment of every test: a private PostgreSQL, a real Redis on request, and no network but this machine."""

import gc
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

# A run starts hundreds of Python processes: without caches each compiles the same modules.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Until the tests are collected.
gc.disable()

import django
import hypothesis
import pytest
from django.conf import settings
from django.db import connection

from tests import network_guard, processes, processor_time
from tests.browser import running_browser, show_loop
from tests.pgbouncer import pooler_before
from tests.redis_server import start_redis
from tests.repeating import OUTCOME, Outcome
from tests.temporary_cluster import TEMPLATE_DATABASE, TemporaryCluster
from tests.waiting import eventually

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
os.environ |= {name: f"{name.lower()}-of-the-tests-{'t' * 32}" for name in ("SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER")}
for setting in ("DEBUG", "REDIS_URL", "BASE_URL", "APP_URL", "ALLOWED_HOSTS", "TRUSTED_PROXIES", "STATEMENT_TIMEOUT"):
    os.environ.pop(setting, None)
for setting in ("STREAMS", "STREAM_PORT", "STREAM_URL", "EMAIL_URL", "DEFAULT_FROM_EMAIL", "EMAIL_HELO"):
    os.environ.pop(setting, None)

# A suite that a shell starts in the background inherits an ignored SIGINT, and would pass it on to its services.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The duration of an example depends on the machine more than on the code.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# A Chromium without windows, which needs less of the processor. It blocks no cookies of third parties.
WINDOWLESS = "chromium-headless-shell"
# In the reasons of tests that REQUIRE_ALL=1 allows to skip.
CANNOT_HAVE = ("this machine has no", "needs root", "only root")
_temporary_cluster = pytest.StashKey[TemporaryCluster]()
_pooler = pytest.StashKey[ExitStack]()
_data = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(processor_time.OPTION, action="store_true", help="fail if many tests should be marked `slow`")


def pytest_configure(config: pytest.Config) -> None:
    """Start one cluster. The workers of pytest-xdist inherit its URL; Django creates a database for each."""
    if config.getoption(processor_time.OPTION):
        config.pluginmanager.register(processor_time.ProcessorTime(), processor_time.NAME)
    if config.option.markexpr == "prose":
        # `make check` compares documents with the code, and needs no database.
        os.environ["DATABASE_URL"] = "postgresql://nowhere.invalid/none"
    elif not hasattr(config, "workerinput"):
        if outcome := os.environ.get(OUTCOME):
            config.pluginmanager.register(Outcome(Path(outcome)))
        # tests/nested_suite.py passes that of its run on.
        template = os.environ.get("TEMPLATE_CLUSTER")
        config.stash[_temporary_cluster] = cluster = TemporaryCluster(template=template)
        os.environ["DATABASE_URL"] = cluster.url
        # Without workers the run is a short one.
        if template or getattr(config.option, "numprocesses", None) or os.environ.get("PARTITIONED_POSTS") == "1":
            os.environ["TEMPLATE_CLUSTER"] = str(cluster.make_template())
        if os.environ.get("THROUGH_POOLER") == "1":
            # tests/cluster/test_pooler.py runs parts of the suite in this way.
            config.stash[_pooler] = ExitStack()
            os.environ |= config.stash[_pooler].enter_context(pooler_before(cluster.cluster))
    # One folder per worker: the tests of one must not invalidate the cached responses of another.
    config.stash[_data] = data = tempfile.TemporaryDirectory(prefix="cm-data-")
    os.environ["DATA_DIR"] = data.name
    # Here, because pytest-django would do it before this file is read, without DATABASE_URL.
    django.setup()
    # pytest-django has loaded the settings of a pytest-xdist worker with the folder of the main process.
    settings.DATA_DIR = Path(data.name)
    # Here, because they import models.
    from kernel.database import sql
    from tests import emptying, patient_database, static_files

    # The first use by this thread: beside the event loop of a browser test, Django has another connection.
    sql.current_alias()

    emptying.install()
    patient_database.install()
    static_files.install()
    processes.guard.install()


def pytest_report_header() -> str:
    return f"browser: {quick_browser_path() or 'none'}"


# After pytest-django, which moves tests with a database to the beginning.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    processes.move_to_the_beginning(items, workers)


def pytest_collection_finish() -> None:
    """Hide the imported modules and collected tests, which live until the end, from the garbage collector."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    if pooler := config.stash.get(_pooler, None):
        pooler.close()
    if cluster := config.stash.get(_temporary_cluster, None):
        cluster.close()
    if data := config.stash.get(_data, None):
        data.cleanup()


# Before the fixtures of the test.
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    processes.guard.refuses = not item.get_closest_marker(processes.MARKER)
    show_loop(to_this_test="browser" in getattr(item, "fixturenames", ()))
    if item.get_closest_marker("browser") and not browser_path():
        pytest.skip("no Chromium: set CHROMIUM, or put one of " + ", ".join(BROWSERS) + " on PATH")


def pytest_runtest_logfinish() -> None:
    processes.guard.refuses = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With REQUIRE_ALL=1, as in CI, a test may be skipped only for what this machine cannot have."""
    report = yield
    if report.skipped and os.environ.get("REQUIRE_ALL") == "1":
        # (file, line, reason), and the file may be anywhere.
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        if not reason.removeprefix("Skipped: ").lower().startswith(CANNOT_HAVE):
            report.outcome = "failed"
            report.longrepr = f"{reason} (REQUIRE_ALL=1 forbids to skip)"
    return report


def browser_path() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


def quick_browser_path() -> str | None:
    return os.environ.get("CHROMIUM") or shutil.which(WINDOWLESS) or browser_path()


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the browser, for tests marked `browser`."""
    path = browser_path()
    assert path
    return path


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    """The browser of all tests of this worker that do not start one of their own."""
    with running_browser(quick_browser_path() or chromium) as browser:
        yield browser


@pytest.fixture
def live_server(live_server: Any) -> Iterator[Any]:
    """Of pytest-django. After a test it may answer a last request of a browser that was closed: wait for its end."""
    yield live_server
    eventually(lambda: not any("process_request" in thread.name for thread in threading.enumerate()), seconds=10)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """The database of a worker is a copy, if there is a migrated one."""
    if "TEMPLATE_CLUSTER" in os.environ:
        connection.settings_dict["TEST"]["TEMPLATE"] = TEMPLATE_DATABASE


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Leave the database to the end of the cluster: threads that live on may have connections to it."""
    return True


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _uses_written_at_once(settings: Any) -> None:
    """Record the last use of a token in the test's transaction, not in a thread, which would not see its rows."""
    settings.TOKEN_USE_SECONDS = 0
    settings.WAKEUP_SECONDS = 0


@pytest.fixture(autouse=True)
def _no_worker_expected(settings: Any) -> None:
    settings.WORKER = False


@pytest.fixture(autouse=True)
def _visits_not_written(settings: Any) -> None:
    """Collect the hosts of widgets without writing them; a test that reads them sets 0."""
    settings.SIGHTING_SECONDS = 3600


@pytest.fixture
def empty_queue(request: pytest.FixtureRequest) -> None:
    """Without the jobs of other tests: Django flushes no tables of models that it does not manage."""
    from kernel.database.sql import execute

    request.getfixturevalue("transactional_db" if is_transactional(request) else "db")
    execute("DELETE FROM procrastinate_periodic_defers")
    execute("DELETE FROM procrastinate_jobs")
    execute("DELETE FROM procrastinate_workers")


def is_transactional(request: pytest.FixtureRequest) -> bool:
    marker = request.node.get_closest_marker("django_db")
    return bool(marker and marker.kwargs.get("transaction"))


@pytest.fixture(autouse=True)
def _own_throttles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Soft throttles count per minute: clear the counters, and stop the clock for the test."""
    from kernel.api import throttling

    throttling.shared_counters().clear()
    throttling._over.clear()
    monkeypatch.setattr(throttling, "_slot", lambda seconds: (0, seconds))


@pytest.fixture(autouse=True)
def _mails_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a mail of one test is sent in the next one."""
    monkeypatch.setattr("kernel.mail.PAUSE_SECONDS", 0)


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    network_guard.install(patch)
    yield
    patch.undo()


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A real Redis for this worker, on a unix socket."""
    with tempfile.TemporaryDirectory(prefix="cm-redis-") as home:
        server = start_redis(Path(home))
        yield f"unix://{home}/redis.sock"
        server.kill()
        server.wait()
