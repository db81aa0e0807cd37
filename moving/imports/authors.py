"""The accounts of foreign authors: inactive, without a password, so that nobody signs in to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol
from uuid import UUID

from django.contrib.auth.hashers import make_password

from config.database.sql import fetch_all
from messaging.deleted_accounts import HEIR_HANDLES, HEIR_IDS, HEIRS
from messaging.models import Account, AccountKind, HandleClaim
from messaging.personal_data.erasing import heirs
from moving.imports.texts import handle_for, source_id_of
from moving.models import ImportedAuthor, Move

# The format in which erased people are one author, as they are one account here.
OWN = "jsonl"
OF_SOURCES = """
SELECT source_id, account_id FROM moving_importedauthor
WHERE community_id = %s AND format = %s AND source_id = ANY(%s::text[])
"""
# Not those of persons: who claims earlier posts has not agreed to those of a later file. Of two rows of one author,
# that of an erased person is the last, and so the one in the dictionary.
KNOWN = f"{OF_SOURCES} AND (claimed_at IS NULL OR account_id = ANY(%s::uuid[])) ORDER BY claimed_at NULLS FIRST"
ERASED = f"{OF_SOURCES} AND posts_are_erased"


class Writer(Protocol):
    """Whose a staged post or reaction is."""

    @property
    def author_id(self) -> str: ...
    @property
    def author_name(self) -> str: ...
    @property
    def author_email(self) -> str: ...
    @property
    def author_kind(self) -> str: ...


def accounts_of(posts: Iterable[Writer], *, move: Move, site: str = "") -> dict[str, UUID]:
    """The account of each author, by foreign id; creates those that are missing. The caller has locked the source."""
    authors = {post.author_id: post for post in posts}
    stored = {source_id_of(author_id, site=site): author_id for author_id in authors}
    rows = fetch_all(KNOWN, [move.community_id, move.format, list(stored), list(HEIR_IDS.values())])
    known: dict[str, UUID] = {stored[source_id]: account_id for source_id, account_id in rows}
    if move.format == OWN and not HEIRS.isdisjoint(authors):
        known |= {HEIR_HANDLES[kind]: account_id for kind, account_id in heirs().items()}
    return known | _create([post for author_id, post in authors.items() if author_id not in known], move, site)


def erased_authors(posts: Iterable[Writer], *, move: Move, site: str = "") -> set[str]:
    """The foreign ids of authors who are erased with all posts."""
    stored = {source_id_of(post.author_id, site=site): post.author_id for post in posts}
    rows = fetch_all(ERASED, [move.community_id, move.format, list(stored)])
    return {stored[source_id] for source_id, _account_id in rows}


def _create(posts: Sequence[Writer], move: Move, site: str) -> dict[str, UUID]:
    accounts = [_account(post) for post in posts]
    HandleClaim.objects.bulk_create(HandleClaim(handle=account.handle) for account in accounts)
    Account.objects.bulk_create(accounts)
    ImportedAuthor.objects.bulk_create(
        ImportedAuthor(
            community_id=move.community_id,
            format=move.format,
            source_id=source_id_of(post.author_id, site=site),
            move=move,
            account=account,
            email=post.author_email,
        )
        for post, account in zip(posts, accounts, strict=True)
    )
    return {post.author_id: account.pk for post, account in zip(posts, accounts, strict=True)}


def _account(post: Writer) -> Account:
    return Account(
        handle=handle_for(post.author_name),
        name=post.author_name,
        kind=AccountKind(post.author_kind),
        is_active=False,
        password=make_password(None),
    )
