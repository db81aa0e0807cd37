"""`make bench-pages`: how long each page of the account area takes, beside 10,000 sites and 1,000 agents.

Starts a service of its own, fills its database, and asks for each page in turn. The person has 200 sites and 50
agents. Prints p50 and p95 in milliseconds and the size of each page.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.benchmarks import servers
from tests.service import Service

SITES, AGENTS = 10_000, 1_000
OWN_SITES, OWN_AGENTS = 200, 50
OTHERS = 100
DAYS = 90


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-pages", description=__doc__)
    parser.add_argument("--requests", type=int, default=40, help="of each page (default 40)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, a_service(Path(folder)) as service:
        paths, cookie = fill()
        sys.stdout.write(f"{'page':<64}{'p50 ms':>8}{'p95 ms':>8}{'bytes':>9}\n")
        for route, path in paths:
            times, size = measure(service.port, path, cookie, options.requests)
            p95 = statistics.quantiles(times, n=20)[-1]
            sys.stdout.write(f"{route:<64}{statistics.median(times):>8.0f}{p95:>8.0f}{size:>9,}\n")
            sys.stdout.flush()


@contextmanager
def a_service(folder: Path) -> Iterator[Service]:
    """A running service, whose database this process uses too."""
    service = Service(folder / "data", **servers.SECRETS, WEBHOOKS="1")
    service.start()
    os.environ |= servers.SECRETS | {"DATABASE_URL": service.cluster.url, "STATEMENT_TIMEOUT": "0", "WEBHOOKS": "1"}
    # This process loads many rows with one statement.
    os.environ["SLOW_STATEMENT_MS"] = "0"
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "DATA_DIR": str(service.data)}
    import django

    django.setup()
    try:
        yield service
    finally:
        service.stop()


def fill() -> tuple[list[tuple[str, str]], str]:
    """Fill the database; returns (route, path) of each page that has a form or shows something, and the cookie."""
    from django.conf import settings
    from django.test import Client

    from tests.account_area.world import objects_of, pages
    from tests.factories import PersonFactory

    person = PersonFactory()
    objects = objects_of(person)
    _others(person, objects)
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(person)
    shown = [
        (page.route, page.path) for page in pages(objects) if client.get(page.path, follow=False).status_code == 200
    ]
    return shown, f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def _others(person: Any, objects: dict[str, Any]) -> None:
    from datetime import timedelta

    from django.utils import timezone

    from agents.models import Agent, Scope
    from embeds.models import DailyCount, Embed
    from messaging.models import Account, AccountKind, Community
    from tests.factories import PersonFactory

    others = [PersonFactory() for _ in range(OTHERS)]
    owners = [person] * OWN_SITES + others * ((SITES - OWN_SITES) // OTHERS)
    community = Community.objects.get(slug=objects["slug"])
    sites = [Embed(owner=owner, community=community, name=f"Site {n}") for n, owner in enumerate(owners)]
    Embed.objects.bulk_create(sites)
    operators = [person] * OWN_AGENTS + others * ((AGENTS - OWN_AGENTS) // OTHERS)
    accounts = [
        Account(handle=f"bench_agent_{n}", name=f"Agent {n}", kind=AccountKind.AGENT, password="!")
        for n in range(len(operators))
    ]
    Account.objects.bulk_create(accounts)
    Agent.objects.bulk_create(
        Agent(account=account, operator=operator, scopes=[Scope.POST])
        for account, operator in zip(accounts, operators, strict=True)
    )
    today = timezone.now().date()
    days = [today - timedelta(days=number) for number in range(1, DAYS)]
    ids = [objects["embed"], *(site.pk for site in sites[:500])]
    for embed_id in ids:
        DailyCount.objects.bulk_create(
            DailyCount(embed_id=embed_id, day=day, path=f"/p{path}", event=event, count=day.day + path)
            for day in days
            for path in range(3)
            for event in ("trigger_view", "trigger_click")
        )


def measure(port: int, path: str, cookie: str, requests: int) -> tuple[list[float], int]:
    """Milliseconds of each request, and the size of the page."""
    times, size = [], 0
    connection = HTTPConnection("127.0.0.1", port)
    for _ in range(requests):
        started = time.perf_counter()
        connection.request("GET", path, headers={"Cookie": cookie})
        response = connection.getresponse()
        size = len(response.read())
        times.append((time.perf_counter() - started) * 1000)
        assert response.status == 200, (path, response.status)
    connection.close()
    return times, size


if __name__ == "__main__":
    main()
