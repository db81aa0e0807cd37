"""Confusable handles: the rules, the generated column, and the query."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from messaging.accounts.confusables import LETTERS, Likeness, near, skeleton
from messaging.accounts.services import claim_handle, handles_like
from messaging.models import HandleClaim

handles = st.from_regex(r"[a-z0-9_]{3,30}", fullmatch=True)


@pytest.mark.parametrize(
    ("one", "other", "likeness"),
    [
        ("wikipedia_bot", "wik1pedla_b0t", Likeness.SAME),
        ("modern_times", "modemtimes", Likeness.SAME),
        ("vvorld", "world", Likeness.SAME),
        ("paypal", "paypa1", Likeness.SAME),
        ("librarian", "librarlan_", Likeness.SAME),
        ("librarian", "libarian", Likeness.SLIP),
        ("librarian", "librarians", Likeness.SLIP),
        ("librarian", "iibrarean", Likeness.SLIP),
        ("librarian", "lirbarian", Likeness.SLIP),
        ("librarian", "official_librarian", Likeness.DRESSED),
        ("librarian", "librarian_b0t", Likeness.DRESSED),
        ("weather_bot", "weather", Likeness.DRESSED),
        ("librarian", "barbarian", None),
        ("librarian", "gardener", None),
        ("bot", "cat", None),
    ],
)
def test_likeness_of_two_handles_is_symmetric(one: str, other: str, likeness: Likeness | None) -> None:
    assert near(skeleton(one)).get(skeleton(other)) == likeness
    assert near(skeleton(other)).get(skeleton(one)) == likeness


@given(handles, st.data())
def test_near_contains_every_skeleton_at_edit_distance_one(handle: str, data: st.DataObject) -> None:
    shape = skeleton(handle)
    at = data.draw(st.integers(0, len(shape)))
    letter = data.draw(st.sampled_from(LETTERS))
    slips = [shape[:at] + letter + shape[at:], shape[:at] + letter + shape[at + 1 :], shape[:at] + shape[at + 1 :]]
    assert all(slip in near(shape) for slip in slips)
    assert all(shape in near(slip) for slip in slips)


@given(handles)
def test_near_has_at_most_1500_skeletons(handle: str) -> None:
    assert set(skeleton(handle)) <= set(LETTERS)
    assert len(near(skeleton(handle))) <= 1_500


@pytest.mark.django_db
@settings(max_examples=3)
@given(st.lists(handles, min_size=30, max_size=50, unique=True))
def test_postgresql_computes_the_same_skeleton(some: list[str]) -> None:
    HandleClaim.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO messaging_handleclaim (handle, claimed_at) SELECT unnest(%s::text[]), now()", [some]
        )
    assert dict(HandleClaim.objects.values_list("handle", "skeleton")) == {each: skeleton(each) for each in some}


@pytest.mark.django_db
def test_confusable_handles_are_found_by_the_index(django_assert_num_queries: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO messaging_handleclaim (handle, claimed_at)"
            " SELECT 'h' || substr(md5(n::text), 1, 12), now() FROM generate_series(1, 50000) n"
        )
        cursor.execute("ANALYZE messaging_handleclaim")
    for handle in ("demo_translator", "demo_transiator", "demo_translators", "translator"):
        claim_handle(handle=handle)
    with django_assert_num_queries(1) as context:
        similar = handles_like(handle="demo_translator")
    assert similar == [("demo_transiator", Likeness.SAME), ("demo_translators", Likeness.SLIP)]
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + context.captured_queries[0]["sql"])
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "handle_skeleton" in plan
    assert "Seq Scan" not in plan
