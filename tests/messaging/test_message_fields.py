"""The field table, MESSAGE_FIELDS."""

from __future__ import annotations

from messaging.posts.message_fields import BODY_FIELDS, CONTENT_FIELDS, MESSAGE_FIELDS
from messaging.posts.queries import EXPRESSIONS, message_from_row


def test_the_source_of_each_body_field_is_its_column() -> None:
    """A value with another source would not be stored."""
    assert [field.body.source or field.name for field in BODY_FIELDS if field.body] == [
        field.column for field in BODY_FIELDS
    ]


def test_a_message_has_the_fields_of_the_table_in_order() -> None:
    assert list(message_from_row((None,) * len(EXPRESSIONS))) == [field.name for field in MESSAGE_FIELDS]


def test_relations_are_not_stored_as_sent() -> None:
    relations = {field.name for field in BODY_FIELDS} - {field.name for field in CONTENT_FIELDS}
    assert relations == {"pageId", "communityId", "parentId", "quoteId"}
