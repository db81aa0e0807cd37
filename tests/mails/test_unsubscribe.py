"""The link of a mail that switches its kind off, and the page with the choices of a person."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from mails.kinds import Frequency, Kind
from mails.models import Mailing, Notice, RefusedAddress
from mails.preferences import preferences_of, set_preferences, unsubscribe
from mails.views import account_of, unsubscribe_url
from messaging.models import Account
from tests.agents.racing import race
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory
from tests.mails.making import address_of, answer, begin, collect_all, reachable

pytestmark = pytest.mark.django_db
PAGE = "/account/me/mails/"


def path_of(account: Account, kind: Kind) -> str:
    return unsubscribe_url(account.pk, kind).removeprefix("http://127.0.0.1:8000")


def signed_in(account: Account) -> Client:
    client = Client()
    client.force_login(account)
    return client


def opened(client: Client) -> str:
    """The hidden field of a form that is open in a tab."""
    match = re.search(r'name="opened" value="([^"]*)"', client.get(PAGE).content.decode())
    return match.group(1) if match else ""


def test_only_a_post_unsubscribes_and_from_that_kind_alone() -> None:
    person = PersonFactory()
    path, client = path_of(person, Kind.DECISION), Client(enforce_csrf_checks=True)
    for _ in range(2):
        page = client.get(path)
        assert (page.status_code, b"<form" in page.content) == (200, True)
    assert not Mailing.objects.exists()
    for _ in range(2):
        done = client.post(path, "List-Unsubscribe=One-Click", content_type="application/x-www-form-urlencoded")
        assert (done.status_code, b"You are unsubscribed" in done.content) == (200, True)
    chosen = preferences_of(person)
    assert chosen.pop(Kind.DECISION) is Frequency.OFF
    assert chosen == {kind: frequency for kind, frequency in preferences_of(PersonFactory()).items() if kind in chosen}


@pytest.mark.django_db(transaction=True)
def test_of_presses_at_once_each_says_that_the_kind_is_off() -> None:
    """RFC 8058: a mail provider may send its POST again, and no answer may be an error."""
    person, bystander = PersonFactory(), PersonFactory()
    set_preferences(account_id=bystander.pk, frequencies={Kind.DECISION: Frequency.DAILY})
    pages = race(6, lambda _number: Client().post(path_of(person, Kind.DECISION)))
    assert [(page.status_code, b"You are unsubscribed" in page.content) for page in pages] == [(200, True)] * 6
    assert Mailing.objects.get(account=person).frequency == Frequency.OFF
    assert preferences_of(bystander)[Kind.DECISION] is Frequency.DAILY


def test_the_page_keeps_its_address_to_itself() -> None:
    page = Client().get(path_of(PersonFactory(), Kind.TOKEN), headers={"Accept-Language": "de"})
    assert page["Referrer-Policy"] == "no-referrer"
    assert page["Cache-Control"] == "private, no-store"
    assert "unsafe" not in page["Content-Security-Policy"]
    assert not page.cookies
    assert b'lang="de"' in page.content


def test_a_link_of_another_kind_or_person_does_not_exist() -> None:
    person = PersonFactory()
    path = path_of(person, Kind.DECISION)
    token = path.rpartition("/")[2]
    for wrong in (f"/unsubscribe/token/{token}", f"/unsubscribe/nothing/{token}", path[:-1], f"{path}A", f"{path}%00"):
        for method in ("get", "post"):
            assert getattr(Client(), method)(wrong).status_code == 404
    assert Client().put(path).status_code == 405
    unsubscribe(account_id=uuid4(), kind=Kind.ANSWER)
    assert not Mailing.objects.exists()


def test_a_link_outlives_a_rotation_of_the_root_key(settings: Any) -> None:
    account_id = uuid4()
    token = unsubscribe_url(account_id, Kind.ANSWER).rpartition("/")[2]
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "n" * 48, settings.ROOT_KEY
    assert account_of("answer", token) == account_id
    settings.ROOT_KEY_PREVIOUS = ""
    assert account_of("answer", token) is None


@pytest.mark.slow
@given(kind=st.text(max_size=12), token=st.text(max_size=60))
def test_no_text_is_a_link(kind: str, token: str) -> None:
    assert account_of(kind, token) is None


@given(account_id=st.uuids(), kind=st.sampled_from(Kind))
def test_every_link_is_read_back(account_id: UUID, kind: Kind) -> None:
    url = unsubscribe_url(account_id, kind)
    assert account_of(kind.value, url.rpartition("/")[2]) == account_id
    assert len(url) < 200


def test_what_waits_of_a_kind_that_is_switched_off_is_dropped() -> None:
    begin()
    person, bystander = reachable(answer=Frequency.DAILY), reachable(answer=Frequency.DAILY)
    for author in (person, bystander):
        answer(MessageFactory(author=author))
    collect_all()
    assert Notice.objects.count() == 2
    set_preferences(account_id=person.pk, frequencies={Kind.ANSWER: Frequency.OFF})
    assert list(Notice.objects.values_list("mailing__account", flat=True)) == [bystander.pk]
    assert list(Mailing.objects.exclude(next_at=None).values_list("account", flat=True)) == [bystander.pk]


def test_a_person_chooses_on_the_page() -> None:
    person = reachable()
    client = signed_in(person)
    assert address_of(person) in client.get(PAGE).content.decode()
    sent = {"decision": "daily", "answer": "at_once", "request": "daily"}
    assert client.post(PAGE, sent).status_code == 302
    chosen = preferences_of(person)
    assert (chosen[Kind.DECISION], chosen[Kind.ANSWER], chosen[Kind.TOKEN]) == ("daily", "at_once", "at_once")
    assert Kind.REQUEST not in chosen
    assert Kind.REQUEST in preferences_of(SuperAdminFactory())
    assert client.post(PAGE, {"decision": "hourly"}).status_code == 200
    assert client.post(PAGE, {"decision": "a\x00b"}).status_code == 400


def test_choices_that_were_opened_before_an_unsubscription_leave_it_as_it_is() -> None:
    person = reachable()
    client = signed_in(person)
    form = {"opened": opened(client), "decision": "at_once", "token": "at_once", "answer": "daily"}
    # A form saves its changed choices alone.
    assert client.post(PAGE, {"opened": opened(client), "decision": "at_once", "mention": "daily"}).status_code == 302
    assert list(Mailing.objects.exclude(frequency="").values_list("kind", flat=True)) == [Kind.MENTION]
    unsubscribe(account_id=person.pk, kind=Kind.DECISION)
    page = client.post(PAGE, form).content.decode()
    assert "changed elsewhere" in page
    assert '<option value="off" selected>' in page
    # A kind that an older form does not have is not switched off.
    (moderation,) = re.findall(r'<select name="moderation".*?</select>', page, re.DOTALL)
    assert f'value="{preferences_of(person)[Kind.MODERATION]}" selected' in moderation
    chosen = preferences_of(person)
    assert (chosen[Kind.DECISION], chosen[Kind.ANSWER]) == ("off", "off")
    # The person has changed the same kind.
    assert "Saved meanwhile: Never" in client.post(PAGE, form | {"decision": "daily"}).content.decode()


def test_the_page_shows_why_an_address_is_off_and_tries_it_again() -> None:
    person, bystander = reachable(), reachable()
    for account in (person, bystander):
        RefusedAddress.objects.create(account=account, address=address_of(account).upper(), reason="550 <i>no</i>")
    client = signed_in(person)
    shown = client.get(PAGE).content.decode()
    assert "550 &lt;i&gt;no&lt;/i&gt;" in shown
    assert "Make sure that the mailbox exists" in shown
    for path in ("/account/", "/account/me/", "/account/me/address/"):
        assert f"refuses mails to {address_of(person).upper()}" in client.get(path).content.decode(), path
        assert "refuses mails" not in signed_in(reachable()).get(path).content.decode(), path
    assert PAGE in client.get("/account/me/").content.decode()
    assert client.post(PAGE, {"again": "1"}).status_code == 302
    assert "refuses mails" not in client.get("/account/").content.decode()
    assert list(RefusedAddress.objects.values_list("account", flat=True)) == [bystander.pk]


def test_a_refusal_of_an_earlier_address_is_not_shown() -> None:
    person = reachable()
    RefusedAddress.objects.create(account=person, address="earlier@mail.example", reason="550 no")
    assert "refuses mails" not in signed_in(person).get("/account/").content.decode()


def test_the_page_needs_a_session_and_a_fixed_number_of_queries(django_assert_max_num_queries: Any) -> None:
    assert Client().get(PAGE)["Location"].startswith("/account/sign-in/")
    client = signed_in(reachable(answer=Frequency.AT_ONCE))
    with django_assert_max_num_queries(6):
        assert client.get(PAGE).status_code == 200
