"""The operations behave alike where the posts are divided."""

from __future__ import annotations

import pytest

from tests import nested_suite

pytestmark = [pytest.mark.slow, pytest.mark.processes]

# Each kind of statement on posts: insert, lists, update, delete, search, moves, and those that lock many.
PARTS = ["tests/partitioning/divided.py"] + [
    f"tests/{name}.py"
    for name in (
        "messaging/test_create_message",
        "messaging/test_list_messages",
        "messaging/test_edit_message",
        "messaging/test_delete_message",
        "messaging/test_search_messages",
        "messaging/test_hiding",
        "messaging/test_races_of_posts",
        "reactions/test_add_reaction",
        "personal_data/test_erasure",
    )
]


def test_parts_of_the_suite_pass_with_divided_posts() -> None:
    nested_suite.require_success(PARTS, PARTITIONED_POSTS="1")
