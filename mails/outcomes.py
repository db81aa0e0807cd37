"""What the mail server said to a mail, and what follows from it."""

from __future__ import annotations

import logging
import random
import re
import smtplib
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from mails.models import REASON_MAX

logger = logging.getLogger(__name__)

# The pause after the first failure of one mailing; each further one is twice as long, up to the longest.
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=3)
JITTER = 0.2
ADDRESS = re.compile(r"\S+@\S+")
# Replies to the recipient's address that say that it does not exist or takes no mail, and not that the sender or the
# message is refused (RFC 3463: X.1.1 to X.1.3, X.1.6, X.1.10, X.2.1).
ADDRESS_STATUS = re.compile(r"\b5\.(?:1\.(?:1|2|3|6|10)|2\.1)\b")
NO_MAILBOX = frozenset({550, 551, 553})
# Replies about this service at a later stage: many servers check the sender and its rights with the recipient.
OF_SENDER = re.compile(r"\b5\.(?:1\.[78]|7\.8)\b|\b(?:sender|relay|relaying|authentication)\b", re.IGNORECASE)
ENHANCED = re.compile(r"\b5\.\d{1,3}\.\d{1,3}\b")


class Outcome(Enum):
    SENT = "sent"
    # Try this mail later.
    DEFERRED = "deferred"
    # The recipient's address is not accepted.
    REFUSED = "refused"
    # The server cannot be reached, or does not let this service in: try all mails later.
    AWAY = "away"


@dataclass(frozen=True, slots=True)
class Result:
    """`reason`: the server's answer, without addresses. `is_of_sender`: it refuses the sender, not the recipient."""

    outcome: Outcome
    reason: str = ""
    is_of_sender: bool = False

    @property
    def is_of_server(self) -> bool:
        """Whether the operator has to mend it: no recipient is to blame."""
        return self.is_of_sender or self.outcome is Outcome.AWAY


def of_connection(failure: OSError) -> Result:
    """What it means that no connection could be opened. The exceptions of `smtplib` are OSErrors."""
    if isinstance(failure, smtplib.SMTPResponseException):
        return Result(Outcome.AWAY, _text(failure.smtp_code, failure.smtp_error))
    return Result(Outcome.AWAY, _without_addresses(str(failure)))


def of_mail(failure: OSError) -> Result:
    """What it means that a mail was not sent through an open connection.

    Without an answer, the server may have accepted the mail. It is sent again after a pause, which grows with each
    failure, and others do not wait for it.
    """
    match failure:
        case smtplib.SMTPRecipientsRefused():
            return _of_recipient(*next(iter(failure.recipients.values()), (450, b"")), bare=NO_MAILBOX)
        case smtplib.SMTPDataError():
            # Without an enhanced status, a refusal of the text may be about the text.
            return _of_recipient(failure.smtp_code, failure.smtp_error, bare=frozenset())
        case smtplib.SMTPSenderRefused():
            # The sender is the same for every mail.
            return _of_sender(Outcome.AWAY, _text(failure.smtp_code, failure.smtp_error))
        case smtplib.SMTPResponseException():
            return Result(Outcome.DEFERRED, _text(failure.smtp_code, failure.smtp_error))
        case _:
            return Result(Outcome.DEFERRED, _without_addresses(str(failure)))


def pause_after(failures: int) -> timedelta:
    pause: timedelta = min(FIRST_PAUSE * 2 ** min(failures - 1, 10), LONGEST_PAUSE)
    return pause * random.uniform(1 - JITTER, 1 + JITTER)  # nosec B311  # noqa: S311  no secret


def failed(failures: int, *, now: datetime) -> dict[str, Any]:
    """The columns of a mailing after a failure."""
    return {"failures": failures + 1, "next_at": now + pause_after(failures + 1)}


def _of_recipient(code: int, answer: bytes | str, *, bare: frozenset[int]) -> Result:
    """`bare`: the codes that refuse the address for good if no enhanced status says more."""
    text = _text(code, answer)
    if code >= 500 and ADDRESS_STATUS.search(text):
        return Result(Outcome.REFUSED, text)
    if code >= 500 and OF_SENDER.search(text):
        # The next recipient may be of a server that does not ask: this mail alone is tried again later.
        return _of_sender(Outcome.DEFERRED, text)
    is_final = code in bare and not ENHANCED.search(text)
    return Result(Outcome.REFUSED if is_final else Outcome.DEFERRED, text)


def _of_sender(outcome: Outcome, text: str) -> Result:
    reason = f"It refuses this service or its DEFAULT_FROM_EMAIL: {text}"[:REASON_MAX]
    logger.error("The mail server takes no mails. %s", reason)
    return Result(outcome, reason, is_of_sender=True)


def _text(code: int, answer: bytes | str) -> str:
    text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
    return _without_addresses(f"{code} {text}")


def _without_addresses(text: str) -> str:
    """For logs and for the person: one line of printable characters."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(ADDRESS.sub("…", printable).split())[:REASON_MAX]
