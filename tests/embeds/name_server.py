"""A name server in the process of the tests: TXT records over UDP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseRequestHandler, ThreadingUDPServer
from typing import Any

from dns import flags, message, rcode, rdatatype, rrset

SILENCE = "silence"


class NameServer(ThreadingUDPServer):
    """`records`: the values by name. A name that is not there does not exist; SILENCE is a server that says nothing."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.records: dict[str, list[str] | str] = {}
        self.asked: list[str] = []

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.server_address[:2]
        return str(host), int(port)


class Handler(BaseRequestHandler):
    server: NameServer

    def handle(self) -> None:
        data, socket = self.request
        query = message.from_wire(data)
        (question,) = query.question
        name = question.name.to_text(omit_final_dot=True)
        self.server.asked.append(name)
        values: Any = self.server.records.get(name)
        if values == SILENCE:
            return
        response = message.make_response(query, recursion_available=True)
        response.flags |= flags.AA
        if values is None:
            response.set_rcode(rcode.NXDOMAIN)
        elif question.rdtype == rdatatype.TXT and values:
            texts = [" ".join(f'"{value[at : at + 255]}"' for at in range(0, len(value), 255)) for value in values]
            response.answer.append(rrset.from_text(question.name, 60, "IN", "TXT", *texts))
        socket.sendto(response.to_wire(), self.client_address)


@contextmanager
def name_server() -> Iterator[NameServer]:
    with NameServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01], daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
