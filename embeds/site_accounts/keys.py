"""The keys that verify the tokens of a site: the secret that it shares with this service, or its public keys.

HS256 signs and verifies with the same secret, so the service has to be able to read it. It is stored encrypted under
the root key, bound to its embed: a copy of the database alone opens nothing, and a row that is copied to another embed
cannot be decrypted.

Public keys are read from the address that the owner names (JWKS, RFC 7517), as webhooks are sent: to a global address
that was checked, without redirects. Each process remembers them.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from uuid import UUID

import jwt
import orjson
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from django.db import transaction

from embeds.exceptions import SiteSecretNotFound
from embeds.models import Embed, SiteSecret
from embeds.services import owned_embed
from kernel.api import stored_secrets
from kernel.api.stored_secrets import SecretLost, Stored
from kernel.database.sql import database_now
from kernel.writes.transaction import retried
from messaging.communities.moderators import moderates
from messaging.models import Account
from messaging.moderation.exceptions import ModeratorRequired
from messaging.webhooks.exceptions import NotSent
from messaging.webhooks.posting import fetch

PREFIX = "sso_"
SECRET_BYTES = 32
# It names the key that secrets are encrypted under, together with the id of the embed.
PURPOSE = "site-secret"
# How long the former secret is accepted after a rotation.
BOTH_SECRETS = timedelta(hours=24)

# What a process remembers of the documents with public keys: for how many seconds, and how much.
FRESH_SECONDS = 600
RETRY_SECONDS = 30
DOCUMENT_MAX = 64 * 1024
KEYS_MAX = 20
DOCUMENTS_MAX = 1_000
RSA_BITS_MIN = 2_048
# A public key is never used as a secret, nor the secret as a public key: the algorithm of a token decides which keys
# are tried, and a document may have only keys of these.
ASYMMETRIC = ("RS256", "ES256", "EdDSA")


@retried
@transaction.atomic
def rotate_secret(*, embed_id: UUID, owner: Account) -> tuple[SiteSecret, str]:
    """Give an embed a secret, or another one; returns it, which is shown once. The former one serves BOTH_SECRETS.

    A second rotation within this time replaces only the new one, which the site may not know yet. Raises EmbedNotFound
    (404), NotOwner or ModeratorRequired (403).
    """
    embed = _locked(embed_id, owner)
    if not moderates(owner, embed.community_id):
        raise ModeratorRequired
    secret, now = PREFIX + secrets.token_urlsafe(SECRET_BYTES), database_now()
    encrypted = stored_secrets.encrypt(PURPOSE, secret.encode(), row=embed_id.bytes)
    row = SiteSecret.objects.filter(embed=embed).first()
    if row is None:
        return SiteSecret.objects.create(embed=embed, secret=encrypted, created_at=now), secret
    if row.previous_secret_until is None or row.previous_secret_until <= now:
        row.previous_secret, row.previous_secret_until = row.secret, now + BOTH_SECRETS
    row.secret, row.created_at = encrypted, now
    row.save()
    return row, secret


@retried
@transaction.atomic
def end_secret(*, embed_id: UUID, owner: Account) -> None:
    """End the secret of an embed and the former one at once. Raises EmbedNotFound, SiteSecretNotFound (404), NotOwner.

    Who is signed in stays so for the 15 minutes of a user token.
    """
    if not SiteSecret.objects.filter(embed=_locked(embed_id, owner)).delete()[0]:
        raise SiteSecretNotFound


def _locked(embed_id: UUID, owner: Account) -> Embed:
    """Rotations of one embed wait for each other."""
    Embed.objects.select_for_update(no_key=True).filter(pk=embed_id).first()
    return owned_embed(embed_id=embed_id, owner=owner)


def secrets_of(embed: Embed) -> list[str]:
    """The secret of an embed, and the former one while that is accepted."""
    row = SiteSecret.objects.filter(embed=embed).first()
    if row is None:
        return []
    stored: list[Stored] = [row.secret]
    until = row.previous_secret_until
    if row.previous_secret is not None and until is not None and until > database_now():
        stored.append(row.previous_secret)
    found = []
    for each in stored:
        with suppress(SecretLost):
            found.append(stored_secrets.decrypt(PURPOSE, each, row=embed.pk.bytes).decode())
    return found


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Encrypt secrets again that are under the previous root key, so that its rotation can be finished."""
    rows = SiteSecret.objects.iterator() if stored_secrets.is_rotating() else ()
    return {"site secrets under the previous key": sum(_renew(row, dry_run=dry_run) for row in rows)}


def _renew(row: SiteSecret, *, dry_run: bool) -> bool:
    stored = {"secret": row.secret, "previous_secret": row.previous_secret}
    renewed = {
        name: again
        for name, value in stored.items()
        if value is not None
        and (again := stored_secrets.encrypted_again(PURPOSE, value, row=row.embed_id.bytes)) is not None
    }
    if renewed and not dry_run:
        # The owner may have changed the secret meanwhile.
        SiteSecret.objects.filter(pk=row.pk, **stored).update(**renewed)
    return bool(renewed)


@dataclass(slots=True)
class Document:
    """The public keys that an address had when it was last read, `read_at` by the monotonic clock."""

    keys: list[jwt.PyJWK]
    read_at: float


_documents: dict[str, Document] = {}
_reading: dict[str, threading.Lock] = {}


def public_keys(url: str, *, key_id: str | None) -> list[jwt.PyJWK]:
    """Those of the address that may have signed a token with this `kid`; all without one.

    An address is read again when its keys are old, or a token names an unknown one. Those who send such tokens make
    the service read it at most every RETRY_SECONDS. While it cannot be read, its former keys serve.
    """
    with _reading.setdefault(url, threading.Lock()):
        document = _documents.get(url)
        age = time.monotonic() - document.read_at if document else FRESH_SECONDS
        found = _with_id(document, key_id)
        if age >= FRESH_SECONDS or (not found and age >= RETRY_SECONDS):
            if len(_documents) >= DOCUMENTS_MAX:
                _documents.clear()
            former = document.keys if document else []
            _documents[url] = document = Document(_read(url, otherwise=former), time.monotonic())
            found = _with_id(document, key_id)
    return found


def _with_id(document: Document | None, key_id: str | None) -> list[jwt.PyJWK]:
    return [key for key in document.keys if key_id is None or key.key_id == key_id] if document else []


def _read(url: str, *, otherwise: list[jwt.PyJWK]) -> list[jwt.PyJWK]:
    try:
        status, content = asyncio.run(fetch(url, limit=DOCUMENT_MAX))
        if status != HTTPStatus.OK:
            return otherwise
        listed = orjson.loads(content)["keys"][:KEYS_MAX]
    except (NotSent, ValueError, TypeError, KeyError):
        return otherwise
    keys = []
    for each in listed:
        # A document may have keys that serve for something else, or that the library does not know.
        with suppress(jwt.PyJWTError, ValueError, TypeError, AttributeError):
            key = jwt.PyJWK(each)
            is_weak = isinstance(key.key, RSAPublicKey) and key.key.key_size < RSA_BITS_MIN
            if key.algorithm_name in ASYMMETRIC and key.public_key_use in (None, "sig") and not is_weak:
                keys.append(key)
    return keys
