"""The mails of a person in the export, and after the erasure."""

from __future__ import annotations

import pytest

from config.personal_data import Subject
from mails.kinds import Frequency
from mails.models import Mailing, Notice, RefusedAddress
from mails.personal_data import erase, sections
from messaging.models import Account
from tests.factories import MessageFactory, PersonFactory
from tests.mails.making import address_of, answer, begin, collect_all, reachable

pytestmark = pytest.mark.django_db


def erased(account: Account) -> None:
    subject = Subject((account.pk,), (account.handle,), {"human": PersonFactory().pk}, delete_posts=True)
    while erase(subject):
        pass


def test_the_export_has_the_choices_and_a_refused_address() -> None:
    person = reachable(answer=Frequency.DAILY)
    RefusedAddress.objects.create(account=person, address=address_of(person), reason="550 no")
    found = {section.name: (section.count, list(section.records)) for section in sections(person.pk)}
    assert found["mails"] == (1, [{"kind": "answer", "frequency": "daily", "sentAt": None}])
    assert found["refused_addresses"][1][0]["address"] == address_of(person)


def test_nothing_of_an_erased_person_waits_for_a_mail() -> None:
    begin()
    person, other = reachable(answer=Frequency.AT_ONCE), reachable(answer=Frequency.AT_ONCE)
    answer(MessageFactory(author=person))
    answer(MessageFactory(author=other), by=person)
    answer(MessageFactory(author=other))
    RefusedAddress.objects.create(account=person, address=address_of(person), reason="550 no")
    collect_all()
    erased(person)
    assert not RefusedAddress.objects.exists()
    assert list(Mailing.objects.values_list("account", flat=True)) == [other.pk]
    assert Notice.objects.count() == 1
