"""Snapshots of cache tags, and when an invalidation takes effect."""

from __future__ import annotations

import pytest
from django.db import transaction

from config.cache.versions import EVERYTHING, TagSnapshot, invalidate, snapshot

pytestmark = pytest.mark.django_db(transaction=True)


def taken(tag: str) -> TagSnapshot:
    result = snapshot(tag)
    assert result is not None
    return result


def test_an_invalidation_takes_effect_at_the_commit() -> None:
    before = taken("page:p1_committed")
    with transaction.atomic():
        invalidate("page:p1_committed")
        assert before.is_valid()
    assert not before.is_valid()


def test_a_rollback_drops_the_invalidation() -> None:
    before = taken("page:p1_rolled_back")
    with transaction.atomic():
        invalidate("page:p1_rolled_back")
        transaction.set_rollback(True)
    assert before.is_valid()


def test_everything_is_a_tag_of_every_response() -> None:
    before = taken("page:p1_x")
    invalidate(EVERYTHING)
    assert not before.is_valid()
