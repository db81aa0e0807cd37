"""A mail of some notices: text and HTML from the same content, and the headers of automatic mail."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit
from uuid import uuid5

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import translation

from mails import places
from mails.contents import Content, content_of
from mails.contents.parts import one_line
from mails.kinds import Kind
from mails.models import Mailing, Notice
from mails.unsubscribing import unsubscribe_url
from messaging.models import Account

# More are counted, and shown on the page that a link leads to.
ITEMS_MAX = 20
SUBJECT_MAX = 120
PRODUCT = "Community Messaging"


def compose(mailing: Mailing, notices: Sequence[Notice], *, address: str) -> EmailMultiAlternatives | None:
    """The mail in the person's language; None: there is nothing to tell any more, as all posts are gone."""
    account, kind = mailing.account, Kind(mailing.kind)
    with translation.override(language_of(account)):
        content = content_of(kind, account, notices)
        return _mail(mailing, notices, content, address=address) if content.items else None


def language_of(account: Account) -> str:
    """The language that the person chose, else the default."""
    try:
        return translation.get_supported_language_variant(getattr(account, "language", "") or settings.LANGUAGE_CODE)
    except LookupError:
        return str(settings.LANGUAGE_CODE)


def _mail(mailing: Mailing, notices: Sequence[Notice], content: Content, *, address: str) -> EmailMultiAlternatives:
    unsubscribe = unsubscribe_url(mailing.account_id, Kind(mailing.kind))
    context = {
        "product": PRODUCT,
        "content": content,
        "items": content.items[:ITEMS_MAX],
        "more": max(len(content.items) - ITEMS_MAX, 0),
        "unsubscribe": unsubscribe,
        "preferences": places.preferences(),
    }
    mail = EmailMultiAlternatives(
        subject=one_line(content.subject, SUBJECT_MAX),
        body=render_to_string("mails/mail.txt", context),
        to=[address],
        headers=_headers(mailing, notices, unsubscribe) | _thread(content.page_id),
    )
    mail.attach_alternative(render_to_string("mails/mail.html", context), "text/html")
    return mail


def _thread(page_id: str) -> dict[str, str]:
    """Mail programs show the mails about the discussion on one page together: answers to a mail that does not exist."""
    return dict.fromkeys(("In-Reply-To", "References"), f"<{page_id}.discussion@{_host()}>") if page_id else {}


def _host() -> str:
    return urlsplit(settings.BASE_URL).hostname or "localhost"


def _headers(mailing: Mailing, notices: Sequence[Notice], unsubscribe: str) -> dict[str, str]:
    """RFC 3834 (automatic), RFC 8058 (one click), RFC 2919 (list)."""
    host = _host()
    # Of the events, so that a mail that is sent twice has the same id.
    events = " ".join(f"{notice.xid}.{notice.row_id}" for notice in notices)
    return {
        "Message-ID": f"<{uuid5(mailing.account_id, f'{mailing.kind} {events}').hex}@{host}>",
        "Auto-Submitted": "auto-generated",
        "Precedence": "bulk",
        "List-Id": f"<{mailing.kind}.{host}>",
        "List-Unsubscribe": f"<{unsubscribe}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }
