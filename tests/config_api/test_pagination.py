"""Cursors: opaque, signed, and good for the one list they came from."""

from __future__ import annotations

import base64
import string
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.api.exceptions import InvalidCursor
from config.api.pagination import CursorPage, Position, decode, encode

POSITION = (datetime(2026, 11, 20, 8, 30, 1, 123456, tzinfo=UTC), UUID(int=7))
LIST = "messages\npage_id=p1"
POSITIONS = st.tuples(st.datetimes(datetime(1970, 1, 1), datetime(9999, 1, 1), timezones=st.just(UTC)), st.uuids())


@given(POSITIONS)
def test_a_cursor_leads_back_to_where_it_was_made(position: Position) -> None:
    assert decode(encode(position, bound_to=LIST), bound_to=LIST) == position


def test_it_is_short_and_fits_an_address_as_it_is() -> None:
    text = encode(POSITION, bound_to=LIST)
    assert len(text) == 48
    assert set(text) <= set(string.ascii_letters + string.digits + "-_")


@given(st.integers(0, 47), st.sampled_from(string.ascii_letters + string.digits + "-_"))
def test_every_changed_character_is_noticed(place: int, character: str) -> None:
    text = encode(POSITION, bound_to=LIST)
    changed = text[:place] + character + text[place + 1 :]
    if changed == text:
        return
    with pytest.raises(InvalidCursor):
        decode(changed, bound_to=LIST)


@given(st.text() | st.binary().map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_nothing_else_is_a_cursor(text: str) -> None:
    with pytest.raises(InvalidCursor):
        decode(text, bound_to=LIST)


@pytest.mark.parametrize("other", ["", "messages", "messages\npage_id=p2", "reactions\npage_id=p1", LIST + "\n"])
def test_it_is_refused_by_any_other_list(other: str) -> None:
    with pytest.raises(InvalidCursor):
        decode(encode(POSITION, bound_to=LIST), bound_to=other)


def test_it_outlives_a_rotation_of_the_root_key(settings: Any) -> None:
    text = encode(POSITION, bound_to=LIST)
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "the next root key", settings.ROOT_KEY
    assert decode(text, bound_to=LIST) == POSITION
    settings.ROOT_KEY_PREVIOUS = ""
    with pytest.raises(InvalidCursor):
        decode(text, bound_to=LIST)


def test_the_size_of_a_page_may_change_from_page_to_page() -> None:
    first = CursorPage.of("messages", {"page_id": "p1", "limit": 10})
    second = CursorPage.of("messages", {"page_id": "p1", "limit": 50, "cursor": first.cursor_at(POSITION)})
    assert (second.after, second.limit) == (POSITION, 50)


def test_filters_bind_and_absent_ones_are_as_none() -> None:
    plain = CursorPage.of("messages", {"page_id": "p1", "tag_type": None})
    assert plain.bound_to == CursorPage.of("messages", {"page_id": "p1"}).bound_to
    assert plain.bound_to != CursorPage.of("messages", {"page_id": "p1", "tag_type": "note"}).bound_to
    assert plain.bound_to != CursorPage.of("messages", {"page_id": "p1"}, owner="x").bound_to
