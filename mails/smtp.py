"""Sends one mail through a connection of its own."""

from __future__ import annotations

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
    try:
        connection.open()
    except OSError as failure:
        return of_connection(failure)
    try:
        _await_answers(connection)
        connection.send_messages([mail])
    except OSError as failure:
        return of_mail(failure)
    finally:
        connection.close()
    return Result(Outcome.SENT)


def _await_answers(connection: BaseEmailBackend) -> None:
    if isinstance(connection, EmailBackend) and connection.connection and connection.connection.sock:
        connection.connection.sock.settimeout(ANSWER_SECONDS)
