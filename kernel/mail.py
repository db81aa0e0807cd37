"""Sends mails after the response, so that a slow mail server delays no page and no work on a mail reveals it."""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from django.core.mail import EmailMessage
from django.db import transaction

# Meanwhile the response of the request that has caused the mail is made and sent.
PAUSE_SECONDS = 0.05
logger = logging.getLogger(__name__)


def send_after_commit(message: EmailMessage) -> None:
    """Send a mail in the background as soon as the present transaction is committed. A failure is logged."""
    transaction.on_commit(lambda: _sender().submit(_send, message) and None)


def _send(message: EmailMessage) -> None:
    time.sleep(PAUSE_SECONDS)
    try:
        # Without a recipient, nothing is sent.
        message.send()
    except Exception:
        logger.exception("A mail could not be sent")


@cache
def _sender() -> ThreadPoolExecutor:
    """One thread of this process: mails of one process are sent in order."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="mail")
