"""Posts of a person to one page of a running service."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

from tests.clients import Clients, Person
from tests.remote import Remote

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Poster:
    clients: Clients
    person: Person
    page_id: str
    remote: Remote

    @classmethod
    def new(cls, clients: Clients) -> Poster:
        person, page_id = clients.person(), clients.page_id(f"https://streams.example/page-{next(_numbers)}")
        return cls(clients, person, page_id, Remote(clients.service.port, person.user))

    def post(self, content: str = "Hello", **fields: Any) -> str:
        """The id of the post."""
        reply = self.remote.call("POST", "/api/messages", {"pageId": self.page_id, "content": content} | fields)
        assert reply.status == 201, reply
        message_id: str = reply.json["id"]
        return message_id

    def posts(self, number: int) -> list[str]:
        return [self.post(f"Post {index}") for index in range(number)]

    def changes(self, **query: Any) -> Any:
        sent = "&".join(f"{name}={value}" for name, value in {"pageId": self.page_id, **query}.items())
        return self.remote.call("GET", f"/v1/changes?{sent}").json
