"""The programs that ask for codes: registered ones, and those whose `client_id` is the address of a document.

Such a document is fetched as webhooks are sent: from global addresses only, within 5 seconds, without redirects. What
was read holds for ten minutes; what a person consents to is what their page has shown.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from hashlib import sha256
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import SplitResult, urlsplit

import orjson
from ada_url import URL

from kernel.api import throttling
from kernel.api.exceptions import RateLimited
from kernel.api.ids import is_id
from kernel.api.serializers import validated
from kernel.database.sql import database_now
from messaging.models import Account
from messaging.webhooks.exceptions import NotSent
from messaging.webhooks.posting import Receiver, fetch
from oauth.exceptions import InvalidOAuthRequest
from oauth.models import NAME_OF_CLIENT_MAX, URI_MAX, URIS_MAX, OAuthClient
from oauth.serializers import NewClient

LOOPBACK = ("127.0.0.1", "localhost", "::1")
DOCUMENT_MAX = 64 * 1024
FRESH_FOR = timedelta(minutes=10)
# Each fetch occupies a thread of a web worker for up to five seconds.
FETCHES_MAX = 2
FETCHES = BoundedSemaphore(FETCHES_MAX)
RETRY_SECONDS = 5
UNUSABLE = "The document at the client_id cannot be used: "


def register(*, redirect_uris: Sequence[str], client_name: str = "") -> OAuthClient:
    """Raises InvalidOAuthRequest (400)."""
    return OAuthClient.objects.create(**_described(redirect_uris, client_name))


def client_of(client_id: str, redirect_uri: str, *, by: Account) -> OAuthClient:
    """The client, if this address is one of its own. `by` looks at the page of consent.

    Raises InvalidOAuthRequest (400), after which nothing is redirected, or RateLimited (429).
    """
    client = _at(client_id, by) if "://" in client_id else _registered(client_id)
    if not any(_is_same(redirect_uri, own) for own in client.redirect_uris):
        raise InvalidOAuthRequest("Send a redirect_uri that the program registered.", field="redirect_uri")
    return client


def version_of(client: OAuthClient) -> str:
    """Differs if a document has changed since a page showed it."""
    return sha256(json.dumps([client.name, client.redirect_uris]).encode()).hexdigest()


def _registered(client_id: str) -> OAuthClient:
    client = OAuthClient.objects.filter(pk=client_id, metadata_url=None).first() if is_id(client_id) else None
    if client is None:
        raise InvalidOAuthRequest("Register the program again: its client_id is unknown.", field="client_id")
    return client


def _at(url: str, by: Account) -> OAuthClient:
    now = database_now()
    known = OAuthClient.objects.filter(metadata_url=url, fetched_at__gt=now - FRESH_FOR).first()
    if known is not None:
        return known
    _require_address(url)
    throttling.hit("client_metadata", str(by.pk))
    document = _fetched(url)
    if document.get("client_id") != url:
        raise _unusable("it names another client_id.")
    if "client_secret" in document or document.get("token_endpoint_auth_method", "none") != "none":
        raise _unusable("clients here have no secret and no key.")
    fields = {name: document[name] for name in ("client_name", "redirect_uris") if name in document}
    described = _described(**validated(NewClient, fields))
    return OAuthClient.objects.update_or_create(metadata_url=url, defaults=described | {"fetched_at": now})[0]


def _require_address(url: str) -> None:
    try:
        Receiver.of(url)
        parsed = URL(url)
    except ValueError:
        raise _unusable("its address is not https, or not global.") from None
    # Two spellings would be two clients.
    if len(url) > URI_MAX or parsed.href != url or parsed.hash or parsed.pathname == "/":
        raise _unusable("its address has no path, or a fragment, or is not normalised.")


def _fetched(url: str) -> dict[str, Any]:
    if not FETCHES.acquire(blocking=False):
        raise RateLimited(retry_after=RETRY_SECONDS, counter="client_metadata", limit=FETCHES_MAX)
    try:
        status, content = asyncio.run(fetch(url, limit=DOCUMENT_MAX))
        document = orjson.loads(content)
    except (NotSent, orjson.JSONDecodeError):
        raise _unusable("it is no JSON of at most 64 KB that comes within 5 seconds.") from None
    finally:
        FETCHES.release()
    if status != 200 or not isinstance(document, dict):
        raise _unusable("it is not there.")
    return document


def _unusable(reason: str) -> InvalidOAuthRequest:
    return InvalidOAuthRequest(UNUSABLE + reason, field="client_id")


def _described(redirect_uris: Sequence[str], client_name: str = "") -> dict[str, Any]:
    if not 1 <= len(redirect_uris) <= URIS_MAX or not all(map(_is_redirect, redirect_uris)):
        text = "Send 1 to 10 redirect_uris: https, or http on a loopback address, without a fragment."
        raise InvalidOAuthRequest(text, field="redirect_uris")
    name = client_name or urlsplit(redirect_uris[0]).hostname or ""
    return {"name": name[:NAME_OF_CLIENT_MAX], "redirect_uris": list(redirect_uris)}


def _parts(uri: str) -> SplitResult | None:
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts


def is_loopback(uri: str) -> bool:
    parts = _parts(uri)
    return parts is not None and parts.scheme == "http" and parts.hostname in LOOPBACK


def _is_redirect(uri: str) -> bool:
    parts = _parts(uri)
    if parts is None or not uri.isascii() or not uri.isprintable() or any(sign in uri for sign in " \\#;,'\""):
        return False
    return bool(parts.hostname) and "@" not in parts.netloc and (parts.scheme == "https" or is_loopback(uri))


def _is_same(uri: str, registered: str) -> bool:
    """Equal, except for the port of a loopback address, which programs choose when they listen (RFC 8252)."""
    if uri == registered:
        return True
    one, other = _parts(uri), _parts(registered)
    if one is None or other is None or not _is_redirect(uri) or one.scheme != "http" or one.hostname != other.hostname:
        return False
    return (one.scheme, one.path, one.query) == (other.scheme, other.path, other.query)
