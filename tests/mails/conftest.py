from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.mails.server import MailServer, running_mail_server


@pytest.fixture
def mail_server(settings: Any) -> Iterator[MailServer]:
    with running_mail_server(settings) as server:
        yield server
