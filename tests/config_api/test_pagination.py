"""Cursors are opaque, signed and valid for one list only."""

from __future__ import annotations

import base64
import string
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.api.exceptions import InvalidCursor
from kernel.api.pagination import CursorPage, Position, decode, encode

POSITION = (datetime(2026, 11, 20, 8, 30, 1, 123456, tzinfo=UTC), UUID(int=7))
LIST = "messages\npage_id=p1"
POSITIONS = st.tuples(st.datetimes(datetime(1970, 1, 1), datetime(9999, 1, 1), timezones=st.just(UTC)), st.uuids())


@given(POSITIONS)
def test_a_decoded_cursor_is_the_encoded_position(position: Position) -> None:
    assert decode(encode(position, bound_to=LIST), bound_to=LIST) == position


def test_a_cursor_is_short_and_needs_no_url_escaping() -> None:
    text = encode(POSITION, bound_to=LIST)
    assert len(text) == 48
    assert set(text) <= set(string.ascii_letters + string.digits + "-_")


@given(st.integers(0, 47), st.sampled_from(string.ascii_letters + string.digits + "-_"))
def test_a_changed_character_is_refused(place: int, character: str) -> None:
    text = encode(POSITION, bound_to=LIST)
    changed = text[:place] + character + text[place + 1 :]
    if changed == text:
        return
    with pytest.raises(InvalidCursor):
        decode(changed, bound_to=LIST)


@given(st.text() | st.binary().map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_other_texts_are_invalid_cursors(text: str) -> None:
    with pytest.raises(InvalidCursor):
        decode(text, bound_to=LIST)


def test_a_cursor_of_another_list_is_refused() -> None:
    for other in ("", "messages", "messages\npage_id=p2", "reactions\npage_id=p1", LIST + "\n"):
        with pytest.raises(InvalidCursor):
            decode(encode(POSITION, bound_to=LIST), bound_to=other)


def test_a_cursor_survives_a_rotation_of_the_root_key(settings: Any) -> None:
    text = encode(POSITION, bound_to=LIST)
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "the next root key", settings.ROOT_KEY
    assert decode(text, bound_to=LIST) == POSITION
    settings.ROOT_KEY_PREVIOUS = ""
    with pytest.raises(InvalidCursor):
        decode(text, bound_to=LIST)


def test_the_limit_may_change_between_pages() -> None:
    first = CursorPage.of("messages", {"page_id": "p1", "limit": 10})
    second = CursorPage.of("messages", {"page_id": "p1", "limit": 50, "cursor": first.cursor_at(POSITION)})
    assert (second.after, second.limit) == (POSITION, 50)


def test_a_cursor_is_bound_to_filters_and_absent_ones_equal_none() -> None:
    plain = CursorPage.of("messages", {"page_id": "p1", "tag_type": None})
    assert plain.bound_to == CursorPage.of("messages", {"page_id": "p1"}).bound_to
    assert plain.bound_to != CursorPage.of("messages", {"page_id": "p1", "tag_type": "note"}).bound_to
    assert plain.bound_to != CursorPage.of("messages", {"page_id": "p1"}, owner="x").bound_to
