"""Streams through nginx with deploy/nginx.conf, on the origin of the service."""

from __future__ import annotations

import pytest

from tests.nginx import needs_nginx, nginx_before
from tests.remote import Remote
from tests.service import Service
from tests.streams.client import following
from tests.streams.posting import Poster

pytestmark = [pytest.mark.slow, pytest.mark.processes]


@needs_nginx
def test_nginx_passes_each_event_on_at_once(stream_service: Service, poster: Poster) -> None:
    with nginx_before(stream_service.port, stream_service.stream_port) as port:
        with following(port, pageId=poster.page_id) as stream:
            for _ in range(2):
                post = poster.post()
                assert [event.data["messageId"] for event in stream.take(1)] == [post]
            assert next(stream.blocks()).type == "", "a heartbeat"
        assert Remote(port).call("GET", "/v1/changes/stream?cursor=x").error == "invalid_cursor"
        assert Remote(port).call("GET", f"/v1/changes?pageId={poster.page_id}").status == 200
