"""The accounts of foreign authors: inactive, without a password, so that nobody signs in to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Protocol
from uuid import UUID

from django.contrib.auth.hashers import make_password

from kernel.database.sql import fetch_all
from messaging.accounts.deleted import HEIR_HANDLES, HEIR_IDS, HEIRS
from messaging.models import Account, AccountKind, HandleClaim
from messaging.privacy.erasing import heirs
from moving.formats.records import folded, id_by_mail
from moving.imports.progress import Report
from moving.imports.staging import Staging
from moving.imports.texts import handle_for, source_id_of
from moving.models import ImportedAuthor, Move

# The format in which erased people are one author, as they are one account here.
OWN = "jsonl"
LOOKED_UP = 1_000
OF_SOURCES = """
SELECT author.source_id, author.account_id, account.name, author.email
FROM moving_importedauthor author JOIN messaging_account account ON account.id = author.account_id
WHERE author.community_id = %s AND author.format = %s AND author.source_id = ANY(%s::text[])
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
    known = {author_id: account for author_id, (account, _name) in _known(authors.values(), move, site).items()}
    if move.format == OWN and not HEIRS.isdisjoint(authors):
        known |= {HEIR_HANDLES[kind]: account_id for kind, account_id in heirs().items()}
    return known | _create([post for author_id, post in authors.items() if author_id not in known], move, site)


def erased_authors(posts: Iterable[Writer], *, move: Move, site: str = "") -> set[str]:
    """The foreign ids of authors who are erased with all posts."""
    stored = _stored({post.author_id for post in posts}, site)
    rows = fetch_all(ERASED, [move.community_id, move.format, list(stored)])
    return {author_id for source_id, *_account in rows for author_id in stored[source_id]}


def report_names(staging: Staging, *, move: Move, site: str, report: Report) -> None:
    """A row for each author of the file whose posts get another name: that of the account from an earlier import."""
    authors = staging.authors()
    while some := list(islice(authors, LOOKED_UP)):
        known = _known(some, move, site)
        for author in some:
            account_id, name = known.get(author.author_id, (None, author.author_name))
            if name != author.author_name and account_id not in HEIR_IDS.values():
                reason = f'Posts of "{author.author_name}" have the name "{name}", as after an earlier import.'
                report.changed("", "", reason, kind="author")


def _known(authors: Iterable[Writer], move: Move, site: str) -> dict[str, tuple[UUID, str]]:
    """The account and its name, by foreign id, of those authors who have one.

    An author by mail and name may have that of the mail alone, from an earlier release, if it has the name; or is
    erased, as all are for whose address no name may come back (`moving.personal_data`).
    """
    by_id = {author.author_id: author for author in authors}
    stored = _stored(by_id, site)
    rows = fetch_all(KNOWN, [move.community_id, move.format, list(stored), list(HEIR_IDS.values())])
    known, by_mail = {}, {}
    for source_id, account_id, name, email in rows:
        for author_id in stored[source_id]:
            if source_id == source_id_of(author_id, site=site):
                known[author_id] = account_id, name
            elif account_id in HEIR_IDS.values() or folded(name) == folded(by_id[author_id].author_name):
                by_mail[author_id] = account_id, name
            elif not email:
                # The person of the address is erased, and had not claimed this author.
                by_mail[author_id] = heirs()[AccountKind.HUMAN], ""
    return by_mail | known


def _stored(author_ids: Iterable[str], site: str) -> dict[str, list[str]]:
    """The foreign ids of authors by each id under which a row may have them."""
    stored: dict[str, list[str]] = {}
    for author_id in author_ids:
        for each in filter(None, (author_id, id_by_mail(author_id))):
            stored.setdefault(source_id_of(each, site=site), []).append(author_id)
    return stored


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
