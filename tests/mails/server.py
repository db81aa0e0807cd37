"""A mail server for tests: aiosmtpd in a thread, with answers that a test chooses."""

from __future__ import annotations

import asyncio
import email
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from email.policy import default
from typing import Any
from unittest.mock import patch

from aiosmtpd.controller import Controller

from tests.waiting import PATIENCE_SECONDS, eventually


class MailServer:
    """Stores what it accepts. `on_sender`, `on_recipient` and `on_message` return another answer than 250, or None.

    `greetings` are the names with which clients have greeted it.

    `silent_to`: it answers no message to these addresses while they are in the set; `is_asked` is set when
    it has got one.
    """

    def __init__(self) -> None:
        self.raw: list[tuple[str, bytes]] = []
        self.greetings: list[str] = []
        self.on_sender: Callable[[], str | None] = lambda: None
        self.on_recipient: Callable[[str], str | None] = lambda _address: None
        self.on_message: Callable[[], str | None] = lambda: None
        self.silent_to: set[str] = set()
        self.is_asked = threading.Event()
        self._added = threading.Lock()

    async def handle_MAIL(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:  # noqa: N802
        self.greetings.append(session.host_name)
        envelope.mail_from, envelope.mail_options = address, options
        return self.on_sender() or "250 OK"

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:  # noqa: N802
        answer = self.on_recipient(address)
        if answer is None:
            envelope.rcpt_tos.append(address)
        return answer or "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        answer = self.on_message()
        while self.silent_to & set(envelope.rcpt_tos):
            self.is_asked.set()
            await asyncio.sleep(0.02)
        if answer is None:
            with self._added:
                self.raw += [(address, envelope.content) for address in envelope.rcpt_tos]
        return answer or "250 Accepted"

    @property
    def mails(self) -> list[EmailMessage]:
        """The mails, as a mail program reads them."""
        return [email.message_from_bytes(content, policy=default) for _address, content in self.raw]

    @property
    def recipients(self) -> list[str]:
        return [address for address, _content in self.raw]

    def wait_for(self, count: int) -> list[EmailMessage]:
        assert eventually(lambda: len(self.raw) >= count, PATIENCE_SECONDS), self.recipients
        return self.mails


class AnyPortController(Controller):
    """Port 0: any free port. The controller connects to it once, to see that it serves."""

    def _trigger_server(self) -> None:
        server: Any = self.server
        self.port = server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def running_mail_server(settings: Any) -> Iterator[MailServer]:
    """The service sends its mails to this server in the block."""
    server = MailServer()
    controller = AnyPortController(server, hostname="127.0.0.1", port=0, ready_timeout=PATIENCE_SECONDS)
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", controller.port, PATIENCE_SECONDS
    try:
        with patch("mails.sending.ANSWER_SECONDS", PATIENCE_SECONDS):
            yield server
    finally:
        controller.stop()


def part_of(mail: EmailMessage, subtype: str) -> str:
    """The text of a mail, or its HTML."""
    body = mail.get_body((subtype,))
    assert body is not None
    return str(body.get_content())
