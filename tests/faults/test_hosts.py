"""Several hosts on one database, as real processes."""

from __future__ import annotations

import os

from tests.cast import Cast
from tests.faults.hosts import empty_database, started_at_once
from tests.faults.stage import SETTINGS
from tests.remote import Remote


def test_five_hosts_start_at_once_on_an_empty_database() -> None:
    """One migrates after the other; what one of them wrote, each of the others shows."""
    with empty_database(os.environ["DATABASE_URL"]) as url, started_at_once(5, url, **SETTINGS) as hosts:
        writer = Cast(hosts[0])
        page_id = writer.page_id("https://example.com/of-five-hosts")
        post = {"pageId": page_id, "content": "Hello"}
        post_id = writer.ask("/api/messages", post, **writer.person().user)["id"]
        assert [Remote(host.port).call("GET", f"/api/messages/{post_id}").status for host in hosts] == [200] * 5
        assert any("Another host migrates; waiting …" in host.said() for host in hosts)
