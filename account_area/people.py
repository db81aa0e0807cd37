from __future__ import annotations

from typing import cast

from django.http import HttpRequest

from kernel.api.credentials import Credential, CredentialKind
from messaging.models import Account


def person_of(request: HttpRequest) -> Account:
    """The signed-in person of a page."""
    return cast(Account, request.user)


def credential_of(request: HttpRequest) -> Credential:
    """What services take that the API also calls for agents."""
    return Credential(kind=CredentialKind.PERSON, user=person_of(request))
