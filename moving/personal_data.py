"""The imports of a person and the foreign authors that the person is, claimed or not: for exports, and erasure."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db.models.functions import Now

from config.personal_data import Section, Subject
from moving.claims import unclaimed_of
from moving.models import ImportedAuthor, Move

BATCH = 500


def sections(account_id: UUID) -> Iterable[Section]:
    moves = Move.objects.filter(started_by=account_id).order_by("created_at")
    columns = ("id", "community_id", "format", "file_name", "status", "created_at")
    yield Section("imports", "Imports that you have started.", moves, moves.values(*columns))
    authors = ImportedAuthor.objects.filter(account=account_id).order_by("pk")
    about = "Who you were in the comment systems that imported posts come from."
    yield Section("imported_authors", about, authors, authors.values("format", "source_id", "email"))


def erase(subject: Subject) -> int:
    """Leave no address, and of claimed authors no name. The foreign ids stay: no later import brings them back."""
    started = Move.objects.filter(started_by__in=subject.account_ids).update(started_by=None)
    ids = list(ImportedAuthor.objects.filter(account__in=subject.account_ids).values_list("pk", flat=True)[:BATCH])
    forgotten = ImportedAuthor.objects.filter(pk__in=ids)
    unclaimed = list(unclaimed_of(subject.account_ids).values_list("pk", flat=True)[:BATCH])
    without_address = ImportedAuthor.objects.filter(pk__in=unclaimed).update(email="")
    forgotten_as = {"account": subject.heir_id, "email": "", "claimed_at": Now()}
    return started + forgotten.update(**forgotten_as, posts_are_erased=subject.delete_posts) + without_address
