"""What a journey begins with: a running service, its OpenAPI document and a super admin who can sign in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from tests.clients import PASSWORD, Clients
from tests.remote import Remote
from tests.service import Service, running_service

ADMIN = "journey_admin"
_numbers = count(1)


@dataclass(frozen=True)
class Start:
    service: Service

    @property
    def clients(self) -> Clients:
        return Clients(self.service)

    def document(self, folder: Path) -> Path:
        """The served document, as a file for a generator."""
        file = folder / "openapi.json"
        file.write_bytes(Remote(self.service.port).call("GET", "/openapi.json").body)
        return file

    def variables(self, program: str) -> dict[str, str]:
        """The environment of a journey. `program` begins the handles that it registers."""
        return os.environ | {
            "BASE_URL": self.service.base_url,
            "HANDLE": f"{program}_{next(_numbers)}",
            "ADMIN_HANDLE": ADMIN,
            "PASSWORD": PASSWORD,
        }


@contextmanager
def a_start() -> Iterator[Start]:
    """With the demo, which the person in Firefox visits, and with streams, which that page follows."""
    with running_service(DEMO="1", STREAMS="1") as service:
        start = Start(service)
        start.clients.manage("create_person", ADMIN, "--super-admin", "--password", PASSWORD)
        yield start


@pytest.fixture(scope="package")
def start() -> Iterator[Start]:
    with a_start() as start:
        yield start
