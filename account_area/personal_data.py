"""What the account area stores about a person, for their export. All of it is deleted with the account."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount

from account_area.models import AccountSession
from config.personal_data import Section
from messaging.personal_data.exporters import table


def sections(account_id: UUID) -> Iterable[Section]:
    addresses = EmailAddress.objects.filter(user=account_id)
    yield table("mail_addresses", "Your mail addresses.", addresses, ("email", "verified", "primary"))
    factors = Authenticator.objects.filter(user=account_id)
    yield table("second_factors", "Your second factors, without secrets.", factors, ("type", "created_at"))
    providers = SocialAccount.objects.filter(user=account_id)
    columns = ("provider", "uid", "extra_data", "last_login", "date_joined")
    yield table("providers", "Your accounts at OpenID Connect providers.", providers, columns)
    sessions = AccountSession.objects.filter(account=account_id)
    about = "Where you are signed in to the account area."
    yield table("sessions", about, sessions, ("device", "created_at", "last_used_at"))
