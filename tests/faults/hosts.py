"""Several hosts on one database: services with the same secrets and separate data folders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from uuid import uuid4

import psycopg
from psycopg.conninfo import make_conninfo

from tests.service import Service, a_service

SECRETS = {name: f"{name.lower()}-of-several-hosts-{'h' * 40}" for name in ("SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER")}


@contextmanager
def empty_database(cluster_url: str) -> Iterator[str]:
    """The URL of a new database in the same cluster; it is dropped at the end."""
    name = f"empty_{uuid4().hex}"
    with psycopg.connect(cluster_url, autocommit=True) as session:
        session.execute(f"CREATE DATABASE {name}")
        try:
            yield make_conninfo(cluster_url, dbname=name)
        finally:
            session.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def started_at_once(count: int, database_url: str, **environment: str) -> Iterator[list[Service]]:
    """Launch `count` hosts concurrently, and wait until all of them run."""
    settings = SECRETS | {"DATABASE_URL": database_url, "WORKERS": "1"} | environment
    with ExitStack() as running:
        hosts = [running.enter_context(a_service(**settings)) for _ in range(count)]
        for host in hosts:
            host.launch()
        for host in hosts:
            host.wait_until_it_runs()
        yield hosts
