"""What the account area stores about a person, for their export. All but sessions is deleted with the account."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef

from account_area.models import AccountSession
from kernel.database.sql import in_batches
from kernel.personal_data import Section, Subject
from messaging.privacy.exporters import table


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


def erase_sessions(subject: Subject) -> int:
    """Of the pages and of the admin. Those without a row that names the account, as of an earlier release, name it in
    their data alone, so each is read.
    """
    accounts = set(map(str, subject.account_ids))
    named = AccountSession.objects.filter(account__in=subject.account_ids).values("pk")
    unnamed = Session.objects.filter(~Exists(AccountSession.objects.filter(pk=OuterRef("pk"))))
    ids = [row.pk for row in in_batches(unnamed) if row.get_decoded().get("_auth_user_id") in accounts]
    return sum(Session.objects.filter(pk__in=keys).delete()[0] for keys in (named, ids))
