"""The service through PgBouncer in transaction mode."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass

import psycopg
import pytest

from config.runtime.postgres import DATABASE
from tests.clients import Clients, bearer
from tests.faults.hosts import SECRETS
from tests.pgbouncer import needs_pgbouncer, pgbouncer_before
from tests.remote import Remote
from tests.service import ROOT, Service, a_service
from tests.streams.follower import StreamFollower
from tests.temporary_cluster import TemporaryCluster

pytestmark = needs_pgbouncer
ROLE = "community"
PARTS = (
    "tests/messaging/test_races_of_posts.py",
    "tests/config_writes/test_idempotency_races.py",
    "tests/webhooks/test_delivery.py",
)
# It gives the address of the pooler to a program of PostgreSQL, without its port.
WITHOUT = "not contains_neither_key_nor_token"


@dataclass(frozen=True, slots=True)
class Pooled:
    service: Service
    admin: str


def documented_statements() -> list[str]:
    text = (ROOT / "docs/cluster.md").read_text()
    return re.findall(rf"^ALTER ROLE {ROLE} SET .*;$", text, re.MULTILINE)


@pytest.fixture(scope="module")
def pooled() -> Iterator[Pooled]:
    """A service whose role is no superuser, with the settings that docs/cluster.md prints."""
    cluster = TemporaryCluster()
    try:
        with psycopg.connect(cluster.url, autocommit=True) as session:
            session.execute(f"CREATE ROLE {ROLE} LOGIN")
            session.execute(f"ALTER DATABASE {DATABASE} OWNER TO {ROLE}")
            for statement in documented_statements():
                session.execute(statement)
        direct = cluster.url.replace("//postgres@", f"//{ROLE}@")
        with pgbouncer_before(cluster.cluster.socket_folder) as port:
            variables = {
                "DATABASE_POOLER": "1",
                "DATABASE_URL": f"postgresql://{ROLE}@127.0.0.1:{port}/{DATABASE}",
                "DATABASE_DIRECT_URL": direct,
                "STREAMS": "1",
            }
            with a_service(**SECRETS, **variables) as service:
                service.start()
                yield Pooled(service, cluster.url)
    finally:
        cluster.close()


def test_posts_replays_and_streams(pooled: Pooled) -> None:
    clients, service = Clients(pooled.service), pooled.service
    page_id = clients.page_id("https://example.com/pooled")
    token = clients.agent_token()
    body = {"pageId": page_id, "content": "through the pooler"}
    with StreamFollower(service, page_id) as follower:

        def post(number: int) -> tuple[int, bytes]:
            remote = Remote(service.port, bearer(token))
            while (reply := remote.call("POST", "/api/messages", body, key=f"key {number % 4}")).status == 409:
                pass
            return reply.status, reply.body

        with ThreadPoolExecutor(8) as threads:
            replies = list(threads.map(post, range(16)))
        assert {status for status, _body in replies} == {201}
        assert len({body for _status, body in replies}) == 4
        shown = Remote(service.port).call("GET", f"/api/messages?pageId={page_id}").json["messages"]
        assert len(shown) == 4
        follower.wait_for([post["id"] for post in shown])


def test_sessions_have_the_documented_settings(pooled: Pooled) -> None:
    checked = check(pooled.service)
    assert "sessions of the pooler" not in checked.stderr


def test_a_missing_setting_is_named(pooled: Pooled) -> None:
    with psycopg.connect(pooled.admin, autocommit=True) as session:
        session.execute(f"ALTER ROLE {ROLE} RESET lock_timeout")
    try:
        with pgbouncer_of(pooled) as port:
            url = f"postgresql://{ROLE}@127.0.0.1:{port}/{DATABASE}"
            checked = check(pooled.service, DATABASE_URL=url)
    finally:
        with psycopg.connect(pooled.admin, autocommit=True) as session:
            session.execute(f"ALTER ROLE {ROLE} SET lock_timeout = '2000'")
    assert checked.returncode == 1
    assert "have lock_timeout = '0' instead of '2000'" in checked.stderr
    assert f"ALTER ROLE {ROLE} SET lock_timeout = '2000'" in checked.stderr
    assert checked.stderr.count("(api.E005)") == 1


def pgbouncer_of(pooled: Pooled) -> AbstractContextManager[int]:
    host = psycopg.conninfo.conninfo_to_dict(pooled.admin)["host"]
    return pgbouncer_before(str(host))


def check(service: Service, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy"],
        cwd=ROOT,
        env=service.environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_parts_of_the_suite_pass_through_the_pooler() -> None:
    # With DJANGO_SETTINGS_MODULE, pytest-django would load the settings before there is a DATABASE_URL.
    removed = ("DATABASE_URL", "TEMPLATE_CLUSTER", "DATA_DIR", "DJANGO_SETTINGS_MODULE", "PYTEST_XDIST_WORKER")
    environment = {name: value for name, value in os.environ.items() if name not in removed}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *PARTS, "-k", WITHOUT],
        cwd=ROOT,
        env=environment | {"THROUGH_POOLER": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-5000:]
