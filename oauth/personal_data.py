"""The device codes that a person has confirmed or refused, for an export, and their erasure."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from kernel.personal_data import Section, Subject
from messaging.privacy.exporters import table
from oauth.models import CodeGrant, DeviceGrant

COLUMNS = (
    *("id", "client_name", "handle", "purpose", "scopes", "community_ids", "for_account", "network"),
    *("created_at", "decided_at", "is_refused", "delivered_at"),
)

CONSENT_COLUMNS = ("id", "name", "agent_id", "scopes", "redirect_uri", "created_at", "exchanged_at", "revoked_at")


def sections(account_id: UUID) -> Iterable[Section]:
    grants = DeviceGrant.objects.filter(person=account_id)
    yield table("device_codes", "Programs whose codes you confirmed or refused.", grants, COLUMNS)
    consents = CodeGrant.objects.filter(person=account_id)
    yield table("oauth_consents", "Programs that you let act as one of your agents.", consents, CONSENT_COLUMNS)


def erase(subject: Subject) -> int:
    """This comes before the erasure of agents: the rows name their requests and tokens."""
    ids = subject.account_ids
    consents = CodeGrant.objects.filter(person__in=ids).delete()[0]
    own = consents + DeviceGrant.objects.filter(person__in=ids).delete()[0]
    return own + DeviceGrant.objects.filter(request__requester__in=ids).delete()[0]
