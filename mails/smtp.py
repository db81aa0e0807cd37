"""Sends one mail through a connection of its own."""

from __future__ import annotations

import smtplib
from contextlib import suppress

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.backends.smtp import EmailBackend

from mails.outcomes import Outcome, Result, of_connection, of_mail

# For each answer to a mail: a server may check it before it answers, and may accept it after a time-out, so that it
# arrives twice (RFC 5321, 4.5.3.2). A connection must open faster: EMAIL_TIMEOUT.
ANSWER_SECONDS = 120


def deliver(mail: EmailMessage) -> Result:
    """Send a mail; raises what is no failure of the server or of the network."""
    connection: BaseEmailBackend = get_connection()
    is_open = False
    try:
        connection.open()
        _greet(_session(connection))
        is_open = True
        connection.send_messages([mail])
    except OSError as failure:
        return of_mail(failure) if is_open else of_connection(failure)
    finally:
        _close(connection)
    return Result(Outcome.SENT)


def _session(connection: BaseEmailBackend) -> smtplib.SMTP | None:
    """None: there is none, or the backend prints mails or stores them in files."""
    return connection.connection if isinstance(connection, EmailBackend) else None


def _greet(session: smtplib.SMTP | None) -> None:
    """Django leaves the greeting to the first mail."""
    if session is not None and session.sock:
        session.ehlo_or_helo_if_needed()
        session.sock.settimeout(ANSWER_SECONDS)


def _close(connection: BaseEmailBackend) -> None:
    """Whether the mail was accepted does not depend on the answer to QUIT."""
    session = _session(connection)
    if session is not None and session.sock:
        session.sock.settimeout(settings.EMAIL_TIMEOUT)
    with suppress(OSError):
        connection.close()
