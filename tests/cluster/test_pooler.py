"""The service through PgBouncer in transaction mode."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
import pytest

from runtime.postgres import DATABASE
from tests import nested_suite
from tests.clients import Clients, bearer
from tests.faults.environment import SETTINGS
from tests.faults.hosts import SECRETS
from tests.pgbouncer import needs_pgbouncer, pgbouncer_before
from tests.remote import Remote
from tests.service import ROOT, Service, a_service
from tests.streams.follower import StreamFollower
from tests.temporary_cluster import TemporaryCluster

pytestmark = [pytest.mark.slow, pytest.mark.processes, needs_pgbouncer]
ROLE = "community"
# They need locks of rows and of keys, leases and the change log, which a session that serves others could lose.
PARTS = (
    "tests/messaging/test_races_of_posts.py::test_every_mixture_of_writes_leaves_exact_counts_threads_and_tombstones",
    "tests/config_writes/test_idempotency_races.py",
    "tests/webhooks/test_delivery.py::test_the_changes_of_the_community_are_delivered_in_order",
    "tests/webhooks/test_delivery.py::test_an_expired_cursor_is_told_by_a_resync_event",
    "tests/webhooks/test_delivery.py::test_one_process_at_a_time_delivers_a_webhook",
)
# What a session of the server has beyond that of a new one; the pooler itself sets the parameters that it tracks.
STATE = {
    "prepared statements": "SELECT name FROM pg_prepared_statements",
    "cursors": "SELECT name FROM pg_cursors WHERE name <> ''",
    "channels": "SELECT pg_listening_channels()",
    "temporary tables": "SELECT relname FROM pg_class WHERE relnamespace = pg_my_temp_schema()",
    "advisory locks": "SELECT objid::text FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()",
    "settings": """
        SELECT name || ' = ' || setting FROM pg_settings WHERE source = 'session' AND name NOT IN
        ('application_name', 'client_encoding', 'DateStyle', 'standard_conforming_strings', 'TimeZone')
    """,
    "role": "SELECT current_user WHERE current_user <> session_user",
}
# The first session of the server that a check gets has begun before it.
AGE = "SELECT now(), backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()"
POOL_SIZE = 20
READS = (
    "/api/messages?pageId={page}&limit=5",
    "/v1/search?q=post",
    "/v1/changes?pageId={page}",
    "/v1/inbox",
    "/v1/communities",
    "/v1/me/reactions",
    "/v1/agent/self",
    "/v1/presence/participants?pageId={page}",
    "/feeds/pages/{page}.atom",
    "/api/auth/me",
    "/v1/agent-tokens",
    "/account/sign-in/",
)
# Each leaves one of them in the session through which it runs.
LEAVING = {
    "prepared statements": "PREPARE left_over AS SELECT 1",
    "cursors": "DECLARE left_over CURSOR WITH HOLD FOR SELECT 1",
    "channels": "LISTEN left_over",
    "temporary tables": "CREATE TEMPORARY TABLE left_over ()",
    "advisory locks": "SELECT pg_advisory_lock(1)",
    "settings": "SET work_mem = '5MB'",
    "role": f"SET ROLE {ROLE}_other",
}


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
                # A follower that ends waits for it.
                "STREAM_HEARTBEAT_SECONDS": "1",
            }
            with a_service(**SETTINGS, **SECRETS, **variables) as service:
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


def test_no_session_of_the_server_has_state_after_a_mixed_load(pooled: Pooled) -> None:
    mixed_load(pooled.service)
    found = states(pooled.service.environment["DATABASE_URL"])
    assert len(found) > 1
    assert not any(found), found


def test_state_that_is_left_in_a_session_is_seen(pooled: Pooled) -> None:
    """The test before this one would fail."""
    with psycopg.connect(pooled.admin, autocommit=True) as session:
        session.execute(f"CREATE ROLE {ROLE}_other ROLE {ROLE}")
    with pgbouncer_of(pooled) as port:
        url = f"postgresql://{ROLE}@127.0.0.1:{port}/{DATABASE}"
        for statement in LEAVING.values():
            with psycopg.connect(url, autocommit=True, prepare_threshold=None) as session:
                session.execute(statement)
        found = states(url)
    assert set().union(*found) == set(STATE)


def mixed_load(service: Service) -> None:
    """Reads and writes of people and agents, several at once, and some that are refused."""
    clients = Clients(service)
    page_id, person, admin = clients.page_id("https://example.com/mixed"), clients.person(), clients.super_admin()
    tokens = [clients.agent_token(person) for _ in range(2)]
    community = clients.ask("/v1/communities", {"name": f"Mixed {page_id[:8]}"}, **person.user)

    def act(number: int) -> set[int]:
        remote = Remote(service.port, person.user if number % 3 else bearer(tokens[number % 2]))
        statuses: set[int] = set()

        def call(method: str, path: str, body: object = None, **headers: str) -> Any:
            key = f"{method} {path} {number % 5}" if body else None
            reply = remote.call(method, path, body, key=key, **headers)
            statuses.add(reply.status)
            return reply.json if reply.status == 201 else {}

        post = {"pageId": page_id, "content": f"Post {number}", "communityId": community["id"]}
        made = call("POST", "/api/messages", post).get("id", page_id)
        call("POST", "/api/messages", {"pageId": page_id, "content": "Reply", "parentId": made})
        call("POST", "/api/messages", {"pageId": page_id, "content": ""})
        call("POST", "/v1/reactions", {"messageId": made, "emoji": "👍"})
        call("PUT", f"/api/messages/{made}", {"content": "Edited"})
        call("POST", f"/v1/moderation/messages/{made}/hide", {"reason": "Test."}, **admin.user)
        call("POST", "/v1/presence/counts", {"pageIds": [page_id]})
        call("DELETE", f"/api/messages/{made}")
        for path in READS:
            call("GET", path.format(page=page_id))
        return statuses

    with ThreadPoolExecutor(8) as threads:
        statuses = set[int]().union(*threads.map(act, range(24)))
    assert {200, 201} <= statuses
    assert statuses & {400, 403, 404, 409}
    assert max(statuses) < 500


def states(url: str) -> list[dict[str, list[str]]]:
    """What each session of the server behind a pooler has, without those that have nothing of it.

    A transaction keeps a session: open ones take one idle session after the other, until the pooler opens a new one.
    """
    found: list[dict[str, list[str]]] = []
    began: datetime | None = None
    with ExitStack() as held:
        while len(found) < POOL_SIZE:
            client = held.enter_context(psycopg.connect(url, prepare_threshold=None))
            row = client.execute(AGE).fetchone()
            assert row
            now, session_began = row
            began = began or now
            # Another role does not see it.
            if session_began and session_began > began:
                break
            rows = {kind: [str(name) for (name,) in client.execute(query)] for kind, query in STATE.items()}
            found.append({kind: names for kind, names in rows.items() if names})
    return found


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
    nested_suite.require_success(PARTS, THROUGH_POOLER="1")
