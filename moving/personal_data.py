"""The imports of a person and the foreign authors that the person is, claimed or not: for exports, and erasure."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db.models.functions import Now

from kernel.personal_data import Section, Subject
from moving.claims import site_accounts_of, unclaimed_of
from moving.formats.records import id_by_mail
from moving.models import ImportedAuthor, Move

BATCH = 500


def sections(account_id: UUID) -> Iterable[Section]:
    moves = Move.objects.filter(started_by=account_id).order_by("created_at")
    columns = ("id", "community_id", "format", "file_name", "status", "created_at")
    yield Section("imports", "Imports that you have started.", moves, moves.values(*columns))
    authors = ImportedAuthor.objects.filter(account=account_id).order_by("pk")
    about = "Who you were in the comment systems that imported posts come from."
    yield Section("imported_authors", about, authors, authors.values("format", "source_id", "email"))
    accounts = site_accounts_of([account_id])
    about = "Accounts of sites that say an address of yours."
    yield Section("site_accounts", about, accounts, accounts.values("account_id", "community_id", "subject", "email"))


def erase(subject: Subject) -> int:
    """Leave no address, and of claimed authors no name. The foreign ids stay: no later import brings them back."""
    started = Move.objects.filter(started_by__in=subject.account_ids).update(started_by=None)
    claimed = ImportedAuthor.objects.filter(account__in=subject.account_ids)[:BATCH]
    unclaimed = unclaimed_of(subject.account_ids)[:BATCH]
    _forget_addresses([*claimed, *unclaimed], subject.heir_id)
    forgotten = ImportedAuthor.objects.filter(pk__in=[author.pk for author in claimed])
    without_address = ImportedAuthor.objects.filter(pk__in=[author.pk for author in unclaimed]).update(email="")
    without_address += site_accounts_of(subject.account_ids).update(email="")
    forgotten_as = {"account": subject.heir_id, "email": "", "claimed_at": Now()}
    return started + forgotten.update(**forgotten_as, posts_are_erased=subject.delete_posts) + without_address


def _forget_addresses(authors: Iterable[ImportedAuthor], heir_id: UUID) -> None:
    """Add a row for each mail address, so that another name that a later file has for it does not bring it back."""
    rows = {(each.community_id, each.format, id_by_mail(each.source_id)): each.move_id for each in authors}
    ImportedAuthor.objects.bulk_create(
        ImportedAuthor(
            community_id=community_id,
            format=format_,
            source_id=source_id,
            move_id=move_id,
            account_id=heir_id,
            claimed_at=Now(),
        )
        for (community_id, format_, source_id), move_id in rows.items()
        if source_id
    )
