"""What follows from the answers of the mail server, and from processes that end."""

from __future__ import annotations

import asyncio
import logging
import os
import smtplib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core.mail import EmailMessage
from django.core.mail.utils import DNS_NAME
from django.db import OperationalError, connection, transaction
from django.db.models.functions import Now
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import make_conninfo

from desk.health import checks
from desk.models import Trouble
from mails import deliverer, sending
from mails import sending as smtp
from mails.collecting import collect
from mails.deliverer import Deliverer
from mails.kinds import Frequency, Kind
from mails.models import Mailing, Notice, RefusedAddress
from mails.outcomes import LONGEST_PAUSE, Outcome, of_connection, of_mail, pause_after
from mails.preferences import preferences_of, set_preferences, try_address_again
from mails.sending import compose, due_mailings, send
from messaging.models import Message
from tests.agents.racing import race
from tests.factories import MessageFactory
from tests.mails.making import address_of, answer, begin, collect_all, make_due, reachable, send_all
from tests.mails.server import MailServer, running_mail_server
from tests.service import ROOT, free_port
from tests.sessions import another_waits, in_background
from tests.waiting import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = Frequency.AT_ONCE


@pytest.fixture(autouse=True)
def _begun(mail_server: MailServer) -> None:
    begin()


def answered_post() -> Message:
    """A post by a person who is told of answers, with one answer."""
    post: Message = MessageFactory(author=reachable(answer=AT_ONCE))
    answer(post)
    return post


@contextmanager
def delivering() -> Iterator[Callable[[], None]]:
    """A deliverer in a thread. The block gets a function that begins to stop it."""
    loop, running = asyncio.new_event_loop(), Deliverer()
    thread = threading.Thread(target=lambda: loop.run_until_complete(running.run()))

    def stop() -> None:
        loop.call_soon_threadsafe(running.stop)

    thread.start()
    try:
        yield stop
    finally:
        stop()
        thread.join(PATIENCE_SECONDS)
        loop.close()


@contextmanager
def process(settings: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A worker that delivers, on the database of the test."""
    url = make_conninfo(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"])
    environment = os.environ | {"DATABASE_URL": url, "EMAIL_URL": f"smtp://127.0.0.1:{settings.EMAIL_PORT}"}
    environment["HOUSEKEEPING_MINUTES"] = "0"
    running = subprocess.Popen([sys.executable, "manage.py", "worker"], cwd=ROOT, env=environment)
    try:
        yield running
    finally:
        running.kill()
        running.wait()


@pytest.mark.parametrize("stage", ["recipient", "message"])
def test_a_final_refusal_of_an_address_at_any_stage_switches_it_off(
    stage: str, mail_server: MailServer, caplog: Any
) -> None:
    post, bystander = answered_post(), reachable(answer=AT_ONCE)
    of_bystander = RefusedAddress.objects.create(account=bystander, address=address_of(bystander), reason="550 no")
    refusal = f"550 5.1.1 <{address_of(post.author)}>: no such mailbox"
    if stage == "recipient":
        mail_server.on_recipient = lambda _address: refusal
    else:
        mail_server.on_message = lambda: refusal
    with caplog.at_level(logging.WARNING):
        assert send_all() == [Outcome.REFUSED]
    refused = RefusedAddress.objects.get(account=post.author)
    assert refused.reason == "550 5.1.1 … no such mailbox"
    assert address_of(post.author) not in caplog.text
    mail_server.on_recipient, mail_server.on_message = lambda _address: None, lambda: None
    answer(post)
    assert send_all() == [None]
    try_address_again(account=post.author)
    answer(post)
    make_due()
    assert send_all() == [Outcome.SENT]
    assert list(RefusedAddress.objects.all()) == [of_bystander]


@pytest.mark.parametrize(
    ("stage", "refusal", "outcome"),
    [
        ("sender", "550 5.7.1 not your domain", Outcome.AWAY),
        ("sender", "550 5.1.1 no such mailbox", Outcome.AWAY),
        ("recipient", "553 5.1.8 no such domain", Outcome.DEFERRED),
        ("recipient", "550 Sender verify failed", Outcome.DEFERRED),
        ("recipient", "550 relay not permitted", Outcome.DEFERRED),
        ("message", "550 5.1.7 bad address of the sender", Outcome.DEFERRED),
    ],
)
def test_a_refused_sender_ends_nobodys_mails_and_is_told_to_the_operator(
    mail_server: MailServer, caplog: Any, settings: Any, stage: str, refusal: str, outcome: Outcome
) -> None:
    settings.MAIL_IS_SENT = True
    answered_post()
    if stage == "recipient":
        mail_server.on_recipient = lambda _address: refusal
    else:
        setattr(mail_server, f"on_{stage}", lambda: refusal)
    assert send_all() == [outcome]
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert f"DEFAULT_FROM_EMAIL: {refusal}" in record.getMessage()
    assert not RefusedAddress.objects.exists()
    (trouble,) = [check.trouble for check in checks() if check.name == "mails"]
    assert trouble.startswith("The mail server takes no mails. It refuses ")
    assert trouble.endswith(refusal)
    mail_server.on_sender = mail_server.on_message = lambda: None
    mail_server.on_recipient = lambda _address: None
    make_due()
    assert send_all() == [Outcome.SENT]
    assert [check.trouble for check in checks() if check.name == "mails"] == [""]


def test_a_server_that_is_away_is_a_trouble_and_a_refused_recipient_is_none(
    mail_server: MailServer, settings: Any
) -> None:
    settings.MAIL_IS_SENT = True
    answered_post()
    mail_server.on_recipient = lambda _address: "550 5.1.1 no such mailbox"
    assert send_all() == [Outcome.REFUSED]
    assert [check.trouble for check in checks() if check.name == "mails"] == [""]
    answered_post()
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, free_port()
    assert send_all() == [Outcome.AWAY]
    assert [bool(check.trouble) for check in checks() if check.name == "mails"] == [True]
    # A refusal of one address does not say that mails are taken.
    settings.EMAIL_PORT = port
    assert send_all() == [Outcome.REFUSED]
    assert [bool(check.trouble) for check in checks() if check.name == "mails"] == [True]


def test_the_name_of_the_greeting_is_a_setting(
    mail_server: MailServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all mails: a container greets with a name that no server knows."""
    monkeypatch.setattr(DNS_NAME, "_fqdn", "container", raising=False)
    settings.EMAIL_HELO = "mail.blog.example"
    apps.get_app_config("mails").ready()
    answered_post()
    assert send_all() == [Outcome.SENT]
    EmailMessage("A link", "text", to=["ada@mail.example"]).send()
    assert mail_server.greetings == ["mail.blog.example"] * 2


def test_a_new_address_is_not_affected_by_the_refusal_of_the_earlier_one(mail_server: MailServer) -> None:
    post = answered_post()
    mail_server.on_recipient = lambda _address: "550 no"
    send_all()
    mail_server.on_recipient = lambda _address: None
    post.author.emailaddress_set.update(email="new@mail.example")
    answer(post)
    make_due()
    assert send_all() == [Outcome.SENT]
    assert mail_server.recipients == ["new@mail.example"]


@pytest.mark.parametrize(
    ("recipient", "message"),
    [
        ("451 4.7.1 greylisted", None),
        ("550 5.7.1 sender is blocked", None),
        (None, "452 disk full"),
        (None, "554 no"),
        (None, "550 5.7.1 spam"),
    ],
)
def test_another_refusal_is_tried_again_later(
    mail_server: MailServer, recipient: str | None, message: str | None
) -> None:
    answered_post()
    mail_server.on_recipient, mail_server.on_message = lambda _address: recipient, lambda: message
    assert send_all() == [Outcome.DEFERRED]
    mailing = Mailing.objects.get(failures=1)
    assert (due_mailings(), mailing.lease_id, Notice.objects.count()) == ([], None, 1)
    mail_server.on_recipient, mail_server.on_message = lambda _address: None, lambda: None
    make_due()
    assert send_all() == [Outcome.SENT]
    assert not RefusedAddress.objects.exists()


def test_the_refusal_of_one_mail_blocks_no_other(mail_server: MailServer) -> None:
    first, second = answered_post(), answered_post()
    mail_server.on_recipient = lambda address: "451 later" if address == address_of(first.author) else None
    with delivering():
        mail_server.wait_for(1)
    assert mail_server.recipients == [address_of(second.author)]


def test_a_mail_without_an_answer_is_tried_again_after_a_pause(
    mail_server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server may have accepted it: without a growing pause, it would arrive again and again."""
    monkeypatch.setattr(smtp, "ANSWER_SECONDS", 0.2)
    author = answered_post().author
    mail_server.silent_to = {address_of(author)}
    assert send_all() == [Outcome.DEFERRED]
    assert Mailing.objects.get(next_at__isnull=False).failures == 1
    mail_server.silent_to = set()
    monkeypatch.setattr(smtp, "ANSWER_SECONDS", PATIENCE_SECONDS)
    make_due()
    assert send_all() == [Outcome.SENT]


def test_a_mail_without_an_answer_does_not_delay_what_happens_later(mail_server: MailServer) -> None:
    first = answered_post()
    mail_server.silent_to = {address_of(first.author)}
    with delivering():
        assert mail_server.is_asked.wait(PATIENCE_SECONDS)
        second = answered_post()
        mail_server.wait_for(1)
        assert mail_server.recipients == [address_of(second.author)]
        mail_server.silent_to = set()
        mail_server.wait_for(2)
        assert eventually(lambda: not Notice.objects.exists())


def test_a_mail_that_is_being_sent_is_next_due_when_its_lease_expires() -> None:
    """Else each deliverer would ask again twice a second."""
    answered_post()
    collect_all()
    make_due()
    assert sending.seconds_to_next() == 0
    assert Mailing.objects.due().lease()
    assert (sending.seconds_to_next() or 0) > Mailing.LEASE.total_seconds() / 2


def test_a_server_that_refuses_the_greeting_is_away(mail_server: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtplib.SMTP, "ehlo", lambda *_arguments: (421, b"not now"))
    monkeypatch.setattr(smtplib.SMTP, "helo", lambda *_arguments: (421, b"not now"))
    answered_post()
    assert send_all() == [Outcome.AWAY]
    assert Mailing.objects.get(next_at__isnull=False).failures == 0


def test_an_answer_may_take_longer_than_a_connection_whose_end_may_fail(
    mail_server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_data, waits = smtplib.SMTP.data, []

    def record_wait(client: smtplib.SMTP, message: Any) -> Any:
        waits.append(client.sock and client.sock.gettimeout())
        return send_data(client, message)

    def fail_to_quit(client: smtplib.SMTP) -> None:
        waits.append(client.sock and client.sock.gettimeout())
        raise smtplib.SMTPResponseException(500, b"no")

    monkeypatch.setattr(smtplib.SMTP, "data", record_wait)
    monkeypatch.setattr(smtplib.SMTP, "quit", fail_to_quit)
    monkeypatch.setattr(smtp, "ANSWER_SECONDS", PATIENCE_SECONDS * 2)
    answered_post()
    assert send_all() == [Outcome.SENT]
    assert waits == [PATIENCE_SECONDS * 2, PATIENCE_SECONDS]


def test_a_defect_of_one_mail_blocks_no_other(mail_server: MailServer) -> None:
    first, second = answered_post(), answered_post()
    first.author.emailaddress_set.update(email="no\naddress@mail.example")
    assert set(send_all()) == {Outcome.DEFERRED, Outcome.SENT}
    assert mail_server.recipients == [address_of(second.author)]


def test_nothing_is_lost_while_the_server_is_away(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliverer, "AWAY_SECONDS", 0.05)
    with running_mail_server(settings):
        pass
    posts = [answered_post() for _ in range(3)]
    assert send_all()[0] is Outcome.AWAY
    with delivering(), running_mail_server(settings) as server:
        server.wait_for(3)
    assert sorted(server.recipients) == sorted(address_of(post.author) for post in posts)


def test_a_mail_is_sent_when_the_event_happens(mail_server: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without polling: the deliverer would sleep longer than the test waits."""
    monkeypatch.setattr(deliverer, "IDLE_SECONDS", 3600.0)
    with delivering():
        answered_post()
        mail_server.wait_for(1)
        assert eventually(lambda: not Mailing.objects.filter(lease_id__isnull=False).exists())
    assert not Notice.objects.exists()


def test_a_mail_has_one_sender(mail_server: MailServer) -> None:
    """Of processes that collect and send at once."""
    for _ in range(5):
        answered_post()
    race(4, lambda _number: send_all())
    assert (len(mail_server.recipients), len(set(mail_server.recipients))) == (5, 5)
    assert not Notice.objects.exists()


@pytest.mark.slow
@pytest.mark.processes
def test_a_killed_process_loses_no_mail_and_a_repeated_one_has_the_same_id(
    mail_server: MailServer, settings: Any
) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def kill_here() -> None:
        reached.set()
        go_on.wait(PATIENCE_SECONDS)

    mail_server.on_message = kill_here
    answered_post()
    with process(settings) as running:
        assert eventually(reached.is_set)
        running.kill()
    go_on.set()
    mail_server.wait_for(1)
    mail_server.on_message = lambda: None
    assert send_all() == []
    Mailing.objects.update(leased_until=Now() - timedelta(seconds=1))
    assert send_all() == [Outcome.SENT]
    first, second = mail_server.mails
    assert first["Message-ID"] == second["Message-ID"]


def test_a_stop_leaves_a_slow_mail_to_its_lease(mail_server: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server answers after the stop only: no other process sends the mail before the lease has expired."""
    monkeypatch.setattr(deliverer, "STOP_SECONDS", 0.1)
    reached, go_on = threading.Event(), threading.Event()

    def wait_here(_address: str) -> None:
        reached.set()
        go_on.wait(PATIENCE_SECONDS)

    mail_server.on_recipient = wait_here
    answered_post()
    with delivering():
        assert eventually(reached.is_set)
    assert Mailing.objects.filter(leased_until__gt=Now()).exists()
    assert (due_mailings(), Notice.objects.count(), mail_server.recipients) == ([], 1, [])
    go_on.set()
    assert eventually(lambda: not Notice.objects.exists())
    assert len(mail_server.recipients) == 1


def test_a_stop_waits_for_a_mail_that_ends_soon(mail_server: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its outcome is recorded, so that it is not sent twice; also if the query of another mail has failed."""
    monkeypatch.setattr(deliverer, "STOP_SECONDS", PATIENCE_SECONDS)
    reached, failed, go_on = threading.Event(), threading.Event(), threading.Event()

    def wait_here() -> None:
        reached.set()
        go_on.wait(PATIENCE_SECONDS)

    def send_or_fail(mailing_id: int) -> Outcome | None:
        if mailing_id != first:
            return send(mailing_id)
        assert reached.wait(PATIENCE_SECONDS)
        failed.set()
        raise OperationalError("no connection")

    mail_server.on_message = wait_here
    for _ in range(2):
        answered_post()
    collect_all()
    first = min(due_mailings())
    monkeypatch.setattr(deliverer, "send", send_or_fail)
    with delivering() as stop:
        assert eventually(failed.is_set)
        stop()
        go_on.set()
    assert (Mailing.objects.filter(lease_id__isnull=False).count(), Notice.objects.count()) == (0, 1)


@pytest.mark.slow
@pytest.mark.processes
def test_a_process_that_no_service_has_started_expects_no_stream_process_and_ends_at_a_stop(
    mail_server: MailServer, settings: Any
) -> None:
    answered_post()
    with process(settings) as running:
        # It has checked its host before.
        mail_server.wait_for(1)
        running.terminate()
        assert running.wait(PATIENCE_SECONDS) == 0
    assert not [text for text in Trouble.objects.values_list("text", flat=True) if "stream process" in text]


def test_an_expired_lease_does_not_overwrite_the_next_one(mail_server: MailServer) -> None:
    answered_post()
    collect_all()
    (mailing,) = due_mailings()

    def lose_the_lease() -> None:
        Mailing.objects.update(lease_id="00000000-0000-0000-0000-000000000001")
        connection.close()

    # The event loop of the mail server may not query.
    mail_server.on_message = lambda: in_another_thread(lose_the_lease)
    assert send(mailing) is Outcome.SENT
    assert Notice.objects.count() == 1


def in_another_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_collecting_twice_at_once_makes_each_notice_once() -> None:
    for _ in range(3):
        answered_post()
    race(4, lambda _number: collect_all())
    assert Notice.objects.count() == 3


def collect_beside(other: Future[Any], collected: threading.Event) -> None:
    """Collect in a transaction that ends when the other session is done, or waits for this one."""
    with transaction.atomic():
        collect()
        collected.set()
        assert eventually(lambda: other.done() or another_waits())
    other.result()


def test_what_is_collected_while_a_mail_is_sent_is_in_the_next_one(
    mail_server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = answered_post()
    collect_all()
    sending_now, collected = threading.Event(), threading.Event()

    def compose_slowly(*args: Any, **options: Any) -> Any:
        sending_now.set()
        assert collected.wait(PATIENCE_SECONDS)
        return compose(*args, **options)

    with monkeypatch.context() as slow, ThreadPoolExecutor(1) as pool:
        slow.setattr(sending, "compose", compose_slowly)
        (mailing,) = due_mailings()
        sent = in_background(pool, lambda: send(mailing))
        assert sending_now.wait(PATIENCE_SECONDS)
        answer(post)
        collect_beside(sent, collected)
    assert Notice.objects.count() == 1
    make_due()
    assert send_all() == [Outcome.SENT]
    assert not Notice.objects.exists()


def test_what_is_collected_while_a_kind_is_switched_off_is_dropped() -> None:
    post = answered_post()
    collect_all()
    answer(post)
    collected = threading.Event()

    def switch_off() -> None:
        assert collected.wait(PATIENCE_SECONDS)
        set_preferences(account_id=post.author_id, frequencies={Kind.ANSWER: Frequency.OFF})

    with ThreadPoolExecutor(1) as pool:
        collect_beside(in_background(pool, switch_off), collected)
    assert not Notice.objects.exists()


@given(code=st.integers(200, 599), text=st.binary(max_size=60))
def test_every_answer_has_an_outcome_without_an_address(code: int, text: bytes) -> None:
    for failure in (
        smtplib.SMTPRecipientsRefused({"a@b.example": (code, text + b" <a@b.example>")}),
        smtplib.SMTPDataError(code, text + b" a@b.example"),
        smtplib.SMTPServerDisconnected("a@b.example"),
        OSError("no route"),
    ):
        for result in (of_connection(failure), of_mail(failure)):
            assert "@b" not in result.reason
            assert result.reason.isprintable()


def test_the_pause_grows_up_to_the_longest() -> None:
    pauses = [pause_after(failures) for failures in (1, 4, 50)]
    assert pauses == sorted(pauses)
    assert pauses[-1] <= LONGEST_PAUSE * 1.2


@pytest.fixture
def newer_kind() -> Iterator[str]:
    """A kind that a newer release has added during a rolling upgrade."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE mails_mailing DROP CONSTRAINT mailing_kind_known")
        yield "newer"
        Mailing.objects.exclude(kind__in=Kind.values).delete()
        kinds = ", ".join(f"'{kind}'" for kind in Kind.values)
        cursor.execute(f"ALTER TABLE mails_mailing ADD CONSTRAINT mailing_kind_known CHECK (kind IN ({kinds}))")


def test_mails_of_kinds_of_a_newer_release_are_left_to_its_hosts(newer_kind: str, mail_server: MailServer) -> None:
    post = answered_post()
    newer = Mailing.objects.create(account=post.author, kind=newer_kind, next_at=Now())
    Notice.objects.create(mailing=newer, xid=1, row_id=1, type="newer", at=Now())
    assert send_all() == [Outcome.SENT]
    assert (len(mail_server.mails), due_mailings(), sending.seconds_to_next()) == (1, [], None)
    newer.refresh_from_db()
    assert (newer.next_at is None, newer.lease_id, newer.failures, newer.notices.count()) == (False, None, 0, 1)
    assert preferences_of(post.author)[Kind.ANSWER] == AT_ONCE
