"""EMAIL_URL, and mails that are sent in the background."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMessage
from django.db import transaction
from django.test import Client

from config.derived import mail_settings
from kernel.mail import send_after_commit
from tests.fresh_settings import fresh_settings
from tests.waiting import eventually


def message(subject: str) -> EmailMessage:
    return EmailMessage(subject, "text", to=["ada@example.com"])


def test_address_of_the_mail_server_is_read() -> None:
    for url, expected in (
        ("smtp://mail.example", {"EMAIL_PORT": 25, "EMAIL_HOST": "mail.example"}),
        ("smtp+tls://a%40b:p%2Fw@mail.example", {"EMAIL_PORT": 587, "EMAIL_USE_TLS": True, "EMAIL_HOST_USER": "a@b"}),
        ("smtps://u:p@mail.example", {"EMAIL_PORT": 465, "EMAIL_USE_SSL": True, "EMAIL_HOST_PASSWORD": "p"}),
        ("smtps://u:p@mail.example:2465", {"EMAIL_PORT": 2465, "EMAIL_USE_SSL": True}),
    ):
        assert expected.items() <= mail_settings(url).items()
    for url in ("nonsense", "https://mail.example", "smtp://", "smtp://u:geheim@host:port"):
        with pytest.raises(ImproperlyConfigured, match="EMAIL_URL") as refused:
            mail_settings(url)
        assert "geheim" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "base_url", "backend"),
    [
        ("", "", "console"),
        ("", "http://intranet:8000", "console"),
        ("", "https://a.example", "dummy"),
        ("smtp://mail", "", "smtp"),
        ("smtp://mail", "https://a.example", "smtp"),
    ],
)
def test_mails_are_printed_over_http_only(
    monkeypatch: pytest.MonkeyPatch, url: str, base_url: str, backend: str
) -> None:
    read = fresh_settings(monkeypatch, {"EMAIL_URL": url, "BASE_URL": base_url})
    assert read["EMAIL_BACKEND"] == f"django.core.mail.backends.{backend}.EmailBackend"
    assert (read["MAIL_IS_SENT"], read["MAIL_IS_PRINTED"]) == (backend == "smtp", backend == "console")


def test_the_name_of_the_greeting_is_a_name_or_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("", "mail.example.com", "MAIL", "xn--bcher-kva.example.", "[192.0.2.1]", "[IPv6:2001:db8::1]"):
        assert fresh_settings(monkeypatch, {"EMAIL_HELO": value})["EMAIL_HELO"] == value
    for value in ("mail example", "a\r\nMAIL", "bücher.example", "[192.0.2.1", ".example", "a" * 256, "a@example.com"):
        with pytest.raises(ImproperlyConfigured, match="EMAIL_HELO"):
            fresh_settings(monkeypatch, {"EMAIL_HELO": value})


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("is_sent", "is_printed", "text"),
    [(True, False, ""), (False, True, "its server prints them"), (False, False, "not connected to a mail server")],
)
def test_pages_that_send_a_link_say_if_it_is_not_sent(
    client: Client, settings: Any, is_sent: bool, is_printed: bool, text: str
) -> None:
    settings.MAIL_IS_SENT, settings.MAIL_IS_PRINTED = is_sent, is_printed
    page = client.get("/account/password/reset/").content.decode()
    assert ('<p class="notice warning">' in page) is bool(text)
    assert text in page


@pytest.mark.django_db(transaction=True)
def test_mail_is_sent_after_the_commit_only() -> None:
    with transaction.atomic():
        send_after_commit(message("rolled back"))
        transaction.set_rollback(True)
    with transaction.atomic():
        send_after_commit(message("first"))
        assert mail.outbox == []
    send_after_commit(message("second"))
    assert eventually(lambda: len(mail.outbox) == 2)
    assert [sent.subject for sent in mail.outbox] == ["first", "second"]


@pytest.mark.django_db(transaction=True)
def test_failed_mail_is_logged_and_the_next_is_sent(caplog: pytest.LogCaptureFixture) -> None:
    send_after_commit(EmailMessage("a\nheader", "text", to=["ada@example.com"]))
    send_after_commit(message("next"))
    assert eventually(lambda: [sent.subject for sent in mail.outbox] == ["next"])
    assert "could not be sent" in caplog.text
