"""Exports through nginx with deploy/nginx.conf: it waits as long as the service does for the first posts."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from kernel.database.bounds import MARGIN_SECONDS
from moving.exports.files import STATEMENT_SECONDS
from tests import nginx
from tests.nginx import needs_nginx, nginx_before
from tests.remote import Remote

EXPORT = "/account/communities/harbour/moderation/export/"
READ_TIMEOUT = re.compile(r"proxy_read_timeout (\d+)s;")
# As if the first posts came after 30 s.
FASTER = 30
SORTING_SECONDS = 30 / FASTER


class Sorting(BaseHTTPRequestHandler):
    """Answers addresses of the account area late, and others at once."""

    def do_GET(self) -> None:
        if self.path.startswith("/account/"):
            time.sleep(SORTING_SECONDS)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")


@contextmanager
def sorting() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sorting)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
@pytest.mark.processes
@needs_nginx
def test_nginx_waits_for_the_first_posts_of_an_export(monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = nginx.configuration

    def faster(port: int, *others: object) -> str:
        text = configuration(port, *others)  # type: ignore[arg-type]
        return READ_TIMEOUT.sub(lambda found: f"proxy_read_timeout {1000 * int(found[1]) // FASTER}ms;", text)

    monkeypatch.setattr(nginx, "configuration", faster)
    with sorting() as upstream, nginx_before(upstream) as port:
        statuses = [Remote(port).call("GET", path).status for path in (EXPORT, f"{EXPORT}?format=csv", "/account/me/")]
    assert statuses == [200, 200, 503]


def test_nginx_waits_longer_for_an_export_than_the_service_waits_for_postgresql() -> None:
    text = (nginx.ROOT / "deploy/nginx.conf").read_text()
    (block,) = re.findall(r"location ~ \S+/moderation/export/\$ \{(.*?)\}", text, re.DOTALL)
    (seconds,) = READ_TIMEOUT.findall(block)
    assert int(seconds) > STATEMENT_SECONDS + MARGIN_SECONDS
