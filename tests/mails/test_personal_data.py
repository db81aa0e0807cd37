"""The mails of a person in the export, and after the erasure."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command

from kernel.personal_data import Subject
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


@pytest.mark.parametrize("is_dry_run", [True, False])
def test_a_refused_address_is_deleted_when_it_is_no_longer_of_its_account(is_dry_run: bool) -> None:
    owner, former = reachable(answer=Frequency.DAILY), reachable(answer=Frequency.DAILY)
    RefusedAddress.objects.create(account=owner, address=address_of(owner).upper(), reason="550 no")
    RefusedAddress.objects.create(account=former, address=address_of(owner), reason="550 no")
    before = list(RefusedAddress.objects.values_list("account", flat=True))
    call_command("prune", dry_run=is_dry_run, stdout=(out := StringIO()))
    assert "refused addresses that were removed: 1" in out.getvalue()
    assert list(RefusedAddress.objects.values_list("account", flat=True)) == (before if is_dry_run else [owner.pk])


def test_nothing_of_an_erased_person_waits_for_a_mail() -> None:
    begin()
    person, other = reachable(answer=Frequency.AT_ONCE), reachable(answer=Frequency.AT_ONCE)
    answer(MessageFactory(author=person))
    answer(MessageFactory(author=other), by=person)
    answer(MessageFactory(author=other))
    for account in (person, other):
        RefusedAddress.objects.create(account=account, address=address_of(account), reason="550 no")
    collect_all()
    erased(person)
    assert list(RefusedAddress.objects.values_list("account", flat=True)) == [other.pk]
    assert list(Mailing.objects.values_list("account", flat=True)) == [other.pk]
    assert Notice.objects.count() == 1
