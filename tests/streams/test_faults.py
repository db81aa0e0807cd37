"""Streams through faults: a client that resumes gets every post exactly once."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException

import psycopg
import pytest

from tests.remote import Remote
from tests.service import Service
from tests.streams.client import EventStream, following, open_stream
from tests.streams.faults import LISTENER, TERMINATE, kill_stream_process, stream_processes, terminate_listener
from tests.streams.posting import Poster
from tests.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes]


def reopened(service: Service, poster: Poster, after: str) -> EventStream:
    """As EventSource does: again and again until the stream is open."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            stream = open_stream(service.stream_port, pageId=poster.page_id, after=after)
            if stream.status == 200:
                return stream
            stream.close()
        except (OSError, HTTPException):
            pass
        assert time.monotonic() < deadline, service.said()
        time.sleep(0.1)


def received(service: Service, poster: Poster, after: str, last: str) -> Iterator[str]:
    """The posts after a cursor until the post `last`, over as many connections as it takes."""
    while True:
        stream = reopened(service, poster, after)
        try:
            for event in stream.events():
                yield event.data["messageId"]
                if event.data["messageId"] == last:
                    return
        except (OSError, HTTPException):
            pass
        finally:
            after = stream.last_id or after
            stream.close()


def every_connection_terminated(service: Service) -> None:
    with psycopg.connect(service.cluster.url, autocommit=True) as connection:
        for name in (LISTENER, "community-messaging"):
            connection.execute(TERMINATE, [name])


@pytest.mark.parametrize("fault", [kill_stream_process, terminate_listener, every_connection_terminated])
def test_a_client_that_resumes_gets_every_post_once(
    stream_service: Service, poster: Poster, fault: Callable[[Service], None]
) -> None:
    with following(stream_service.stream_port, pageId=poster.page_id) as stream:
        start, posts = stream.last_id, poster.posts(2)
        assert [event.data["messageId"] for event in stream.take(2)] == posts
        fault(stream_service)
        posts += poster.posts(2)
    assert list(received(stream_service, poster, start, posts[-1])) == posts


def test_an_open_stream_survives_a_restart_of_postgresql(stream_service: Service, poster: Poster) -> None:
    with following(stream_service.stream_port, pageId=poster.page_id) as stream:
        stream_service.cluster.stop()
        blocks = stream.blocks()
        assert [next(blocks).type for _ in range(2)] == ["", ""], "heartbeats go on"
        stream_service.cluster.start()
        post = poster.post()
        assert [event.data["messageId"] for event in stream.take(1)] == [post]


def test_a_change_that_waits_for_an_older_transaction_is_delivered_after_it(
    stream_service: Service, poster: Poster
) -> None:
    with (
        following(stream_service.stream_port, pageId=poster.page_id, types="message.created") as stream,
        psycopg.connect(stream_service.cluster.url) as older,
    ):
        older.execute("SELECT pg_current_xact_id()")
        post = poster.post()
        assert next(stream.blocks()).type == "", "a heartbeat, and no event"
        older.rollback()
        assert [event.data["messageId"] for event in stream.take(1)] == [post]


def test_a_client_that_does_not_read_is_cut_and_resumes_without_loss(stream_service: Service, poster: Poster) -> None:
    with socket.socket() as client:
        # Before it is connected: the window that it offers.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", stream_service.stream_port))
        request = f"GET /v1/changes/stream?pageId={poster.page_id} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        client.sendall(request.encode())
        received_bytes = client.recv(2048)
        assert eventually(lambda: open_streams(stream_service) == 1)
        start = poster.changes(tail="true")["nextCursor"]
        # Eight megabytes: the socket buffers of the system take over four.
        posts = [poster.post("漢" * 20_000) for _ in range(130)]
        assert eventually(lambda: open_streams(stream_service) == 0), "the client is not cut"
        client.settimeout(PATIENCE_SECONDS)
        while part := client.recv(65536):
            received_bytes += part
    assert received_bytes.count(b"event: message.created") < len(posts)
    assert not received_bytes.endswith(b"0\r\n\r\n"), "the response is incomplete"
    assert list(received(stream_service, poster, start, posts[-1])) == posts


def open_streams(service: Service) -> float:
    """As the metric says; those of earlier tests end within moments."""
    text = Remote(service.port).call("GET", "/metrics").body.decode()
    found = re.search(r"^community_messaging_streams_open (\S+)$", text, re.MULTILINE)
    assert found, text
    return float(found[1])


def test_streams_end_at_once_when_the_stream_process_stops(stream_service: Service, poster: Poster) -> None:
    (process,) = stream_processes(stream_service)
    with following(stream_service.stream_port, pageId=poster.page_id) as stream:
        os.kill(process.pid, signal.SIGTERM)
        assert stream.is_over_within(PATIENCE_SECONDS)
    reopened(stream_service, poster, stream.last_id).close()
