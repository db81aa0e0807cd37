"""A service on a primary with synchronous standbys, all real processes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from kernel.database import urls
from runtime.postgres import DATABASE, SUPERUSER
from tests.clients import Clients
from tests.cluster.pooler import Pooler
from tests.cluster.postgres import PostgresCluster
from tests.faults.environment import SETTINGS, Environment
from tests.faults.hosts import SECRETS
from tests.redis_server import start_redis
from tests.service import Service


@dataclass(slots=True, kw_only=True)
class ClusterEnvironment(Environment):
    cluster: PostgresCluster
    # By the names of the servers.
    poolers: dict[str, Pooler]

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Query the primary directly."""
        with psycopg.connect(self.cluster.primary.admin_url, autocommit=True) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def a_clustered_service(*, standbys: int = 2, pooled: bool = False, **variables: str) -> Iterator[ClusterEnvironment]:
    """Started, with a Redis; it is stopped and deleted at the end. `variables` are added to its environment.

    `pooled`: the service connects through a PgBouncer beside each server.
    """
    home = Path(tempfile.mkdtemp(prefix="cm-clustered-"))
    with ExitStack() as running:
        running.callback(shutil.rmtree, home, ignore_errors=True)
        cluster = running.enter_context(PostgresCluster(standbys=standbys))
        redis = start_redis(home)
        running.callback(redis.kill)
        environment = SECRETS | SETTINGS | {"REDIS_URL": f"unix://{home}/redis.sock", "DATABASE_URL": cluster.url}
        poolers = poolers_before(cluster, home, running) if pooled else {}
        if poolers:
            environment |= through(poolers, cluster)
        service = Service(
            home / "data", **environment | {name: _filled(value, cluster) for name, value in variables.items()}
        )
        running.callback(service.close)
        service.start()
        yield ClusterEnvironment(
            service=service,
            clients=Clients(service),
            proxy_port=service.port,
            redis_home=home,
            redis=redis,
            variables=environment,
            running=running,
            cluster=cluster,
            poolers=poolers,
        )


def poolers_before(cluster: PostgresCluster, home: Path, running: ExitStack) -> dict[str, Pooler]:
    """Start one beside each server, standbys first."""
    home.chmod(0o755)
    poolers = {}
    for server in (*cluster.standbys, cluster.primary):
        poolers[server.name] = pooler = Pooler(home / f"pooler-{server.name}", server.place)
        running.callback(pooler.kill)
        pooler.start(server)
    return poolers


def through(poolers: dict[str, Pooler], cluster: PostgresCluster) -> dict[str, str]:
    """Variables of the environment of a service. The role gets the settings that it needs."""
    with psycopg.connect(cluster.primary.admin_url, autocommit=True) as session:
        for name, value in urls.session_settings(5_000).items():
            session.execute(f"ALTER ROLE {SUPERUSER} SET {name} = '{value}'")
    hosts = ",".join(f"{pooler.place.address}:{pooler.port}" for pooler in poolers.values())
    url = f"postgresql://{SUPERUSER}@{hosts}/{DATABASE}"
    return {"DATABASE_POOLER": "1", "DATABASE_URL": url, "DATABASE_DIRECT_URL": cluster.url}


def _filled(value: str, cluster: PostgresCluster) -> str:
    """Addresses of the cluster are known only when it runs."""
    standbys = ",".join(f"{each.place.address}:{each.port}" for each in cluster.standbys)
    return value.replace("STANDBYS", standbys)
