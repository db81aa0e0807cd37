"""`make bench-desk`: how long each page of the desk takes beside ten million posts.

Fills the database of DATABASE_URL, or one in BENCH_DIR (`.data/benchmark-desk`), once, and asks for each page in turn
inside this process. Prints p50 and p95 in milliseconds, and the number of queries; fails if a p50 is above its limit.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.servers import SECRETS

POSTS = 10_000_000
# Milliseconds.
OVERVIEW_MAX, PAGE_MAX = 50, 100


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-desk", description=__doc__)
    parser.add_argument("--posts", type=int, default=POSTS, help=f"default {POSTS:,}")
    parser.add_argument("--requests", type=int, default=20, help="of each page (default 20)")
    options = parser.parse_args()
    _set_up()
    slow = 0
    sys.stdout.write(f"{'page':<44}{'p50 ms':>8}{'p95 ms':>8}{'queries':>9}\n")
    pages = _pages(options.posts)
    client = _client()
    for name, (path, limit) in pages.items():
        times, queries = _measure(client, path, options.requests)
        p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        slow += p50 > limit
        sys.stdout.write(f"{name:<44}{p50:>8.0f}{p95:>8.0f}{queries:>9}{'  slow' if p50 > limit else ''}\n")
        sys.stdout.flush()
    return min(slow, 1)


def _set_up() -> None:
    home = Path(os.environ.get("BENCH_DIR", ".data/benchmark-desk")).resolve()
    url = os.environ.get("DATABASE_URL") or _embedded(home)
    os.environ |= SECRETS | {"DATABASE_URL": url, "STATEMENT_TIMEOUT": "0", "SLOW_STATEMENT_MS": "0"}
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "DATA_DIR": str(home), "DEBUG": "0"}
    os.environ |= {"BASE_URL": "https://service.example"}
    import django

    django.setup()


def _embedded(home: Path) -> str:
    from runtime.postgres import Cluster

    cluster = Cluster(home / "postgres", {"max_wal_size": "16GB", "shared_buffers": "2GB"})
    cluster.start()
    return cluster.url


def _client() -> Any:
    from django.test import Client

    from messaging.models import Account

    person, _ = Account.objects.update_or_create(
        handle="bench_admin", defaults={"kind": "human", "name": "Admin", "is_staff": True, "is_superuser": True}
    )
    client = Client(SERVER_NAME="service.example", headers={"X-Forwarded-Proto": "https"})
    client.force_login(person)
    return client


def _pages(posts: int) -> dict[str, tuple[str, int]]:
    """(path, limit in milliseconds) by name. Migrates the database, and fills it if it has no page."""
    from django.core.management import call_command
    from django.urls import reverse

    from agents.models import Agent
    from embeds.models import Embed
    from messaging.models import Account, Community, Message, Page
    from tests.benchmarks import bulk, data

    call_command("migrate", verbosity=0)
    if not Page.objects.exists():
        bulk.fill(data.connect(os.environ["DATABASE_URL"]), posts)
        call_command("roll_up_desk")
    # Not the newest one: nothing of it is in a memory by chance.
    post = Message.objects.order_by("-id")[1_000]
    rows = {
        "a person": Account.objects.get(handle="human_7"),
        "an agent": Agent.objects.select_related("account").get(account__handle="agent_10"),
        "a community": Community.objects.get(slug="community-3"),
        "an embed": Embed.objects.get(name="Embed 3"),
        "a post": post,
    }
    terms = {
        "a common word": "word0",
        "a rare word": "word4321",
        "two words": "word17 word4000",
        "a phrase": '"word0 word1"',
        "a word of no post": "nowhere",
        "an id": str(post.pk),
        "a handle": "@human_7",
        "a URL": data.url(77),
        "a part of a name": "number 19",
    }
    pages = {"overview": (reverse("admin:index"), OVERVIEW_MAX)}
    for name, row in rows.items():
        route = f"admin:{row._meta.app_label}_{row._meta.model_name}_change"
        pages[name] = reverse(route, args=[row.pk]), OVERVIEW_MAX if row is not post else PAGE_MAX
    for route, what in (("admin:desk_search", "search"), ("admin:messaging_message_changelist", "posts")):
        for name, term in terms.items():
            pages[f"{what}: {name}"] = f"{reverse(route)}?q={_quoted(term)}", PAGE_MAX
    posts_url = reverse("admin:messaging_message_changelist")
    pages |= {
        "posts": (posts_url, PAGE_MAX),
        "posts: pending": (f"{posts_url}?status__exact=pending", PAGE_MAX),
        "posts: hidden": (f"{posts_url}?status__exact=hidden", PAGE_MAX),
        "posts: reported": (f"{posts_url}?reports=open", PAGE_MAX),
    }
    return pages


def _quoted(term: str) -> str:
    from urllib.parse import quote

    return quote(term)


def _measure(client: Any, path: str, requests: int) -> tuple[list[float], int]:
    """Milliseconds of each request, and the queries of the last one."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    times = []
    client.get(path)
    for _ in range(requests):
        started = time.perf_counter()
        response = client.get(path)
        response.content  # noqa: B018  reads it
        times.append((time.perf_counter() - started) * 1000)
        assert response.status_code == 200, (path, response.status_code)
    with CaptureQueriesContext(connection) as queries:
        client.get(path)
    return times, len(queries)


if __name__ == "__main__":
    sys.exit(main())
