"""The operations behave alike where the posts are divided."""

from __future__ import annotations

import pytest

from tests import nested_suite

pytestmark = [pytest.mark.slow, pytest.mark.processes]

# They run each kind of statement on posts once.
PARTS = {
    "partitioning/divided": ["test_the_posts_are_divided"],
    "messaging/test_create_message": ["test_replies_and_quotes_are_counted_on_their_targets"],
    "messaging/test_list_messages": [
        "test_paging_skips_and_repeats_no_post_during_changes",
        "test_filters_by_author_community_and_tag",
        "test_the_top_reply_has_most_reactions_then_is_oldest",
        "test_a_quote_contains_its_target_only_while_that_is_published",
    ],
    "messaging/test_edit_message": [
        "TestVersions",
        "TestChanges::test_the_quotes_of_a_post_show_the_edited_text",
    ],
    "messaging/test_delete_message": [
        "test_a_deleted_post_is_gone_everywhere",
        "test_the_counts_of_parent_and_quoted_post_fall",
        "TestTombstones::test_it_disappears_with_its_last_reply_and_so_do_those_above",
        "TestTombstones::test_it_appears_and_disappears_with_an_approved_hidden_and_restored_reply",
    ],
    "messaging/test_search_messages": [
        "test_posts_are_found_by_the_old_and_the_new_id_of_a_page_that_moved",
        "test_cursors_list_each_match_once",
    ],
    "messaging/test_hiding": [
        "test_restoring_publishes_only_posts_that_were_hidden_together",
        "test_counts_are_correct_after_concurrent_writes_and_decisions",
    ],
    "messaging/test_races_of_posts": ["test_every_mixture_of_writes_leaves_exact_counts_threads_and_tombstones"],
    "reactions/test_add_reaction": ["test_count_is_per_emoji_and_total_per_post"],
    "personal_data/test_erasure": ["test_with_the_posts_nothing_of_a_person_is_left_in_a_dump"],
}


def test_parts_of_the_suite_pass_with_divided_posts() -> None:
    chosen = [f"tests/{module}.py::{name}" for module, names in PARTS.items() for name in names]
    nested_suite.require_success(chosen, PARTITIONED_POSTS="1")
