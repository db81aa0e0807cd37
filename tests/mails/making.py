"""Helpers of the tests of mails."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from django.db.models.functions import Now

from mails.collecting import collect
from mails.kinds import Frequency, Kind
from mails.models import Mailing
from mails.outcomes import Outcome
from mails.preferences import set_preferences
from mails.sending import due_mailings, send
from messaging.models import Account, Message
from tests.api import Api
from tests.factories import PageFactory, PersonFactory


def reachable(account: Account | None = None, **on: Frequency) -> Account:
    """A person with a verified address; `answer=Frequency.AT_ONCE` switches a kind on."""
    account = account or PersonFactory()
    EmailAddress.objects.create(user=account, email=address_of(account), verified=True, primary=True)
    set_preferences(account_id=account.pk, frequencies={Kind(kind): frequency for kind, frequency in on.items()})
    return account


def address_of(account: Account) -> str:
    return f"{account.handle}@mail.example"


def begin() -> None:
    """The service has run before: what follows is mailed."""
    collect()


def collect_all() -> None:
    while collect():
        pass


def send_all() -> list[Outcome | None]:
    """Collect, and send what is due, each mailing once."""
    collect_all()
    return [send(mailing) for mailing in due_mailings()]


def make_due() -> None:
    """As if the time of all waiting mails had come."""
    Mailing.objects.filter(next_at__isnull=False).update(next_at=Now())


def answer(post: Message, content: str = "An answer.", *, by: Account | None = None) -> str:
    """A reply by the API; returns its id."""
    body = {"pageId": post.page_id, "parentId": str(post.pk), "content": content}
    return write(body, by=by)


def write(body: dict[str, Any], *, by: Account | None = None) -> str:
    page = {} if "pageId" in body else {"pageId": PageFactory().pk}
    response = Api.as_person(by or PersonFactory()).post("/api/messages", page | body)
    assert response.status == 201, response.json
    return str(response.json["id"])


def report(message_id: str) -> None:
    response = Api.as_person(PersonFactory()).post(f"/api/messages/{message_id}/report", {"reason": "spam"})
    assert response.status == 200, response.json
