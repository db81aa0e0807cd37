"""decisions 9: one emoji (variation selectors normalised) or one shortcode."""

from __future__ import annotations

import pytest
from emoji import EMOJI_DATA, STATUS
from hypothesis import given
from hypothesis import strategies as st

from reactions.emoji import SPELLINGS, one_emoji
from reactions.models import EMOJI_MAX

SELECTORS = "\ufe0e\ufe0f"
FULL = sorted(SPELLINGS.values())


@pytest.mark.parametrize(
    "text",
    ["👍", "👍🏽", "🇩🇪", "1️⃣", "#️⃣", "👨‍👩‍👧‍👦", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "❤️‍🔥", "👩🏽‍❤️‍💋‍👨🏿", "🏳️‍🌈", "🏽"],
)
def test_one_emoji_is_kept_as_it_is(text: str) -> None:
    assert one_emoji(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [("❤", "❤️"), ("❤\ufe0e", "❤️"), ("👍\ufe0f", "👍"), ("1⃣", "1️⃣"), ("🏳‍🌈", "🏳️‍🌈"), ("✌\ufe0f🏽", "✌🏽"), ("©", "©️")],
)
def test_variation_selectors_make_no_second_emoji(text: str, kept: str) -> None:
    assert one_emoji(text) == kept


@pytest.mark.parametrize("text", [":+1:", ":-1:", ":party_parrot:", ":a:", ":100:", ":" + "x" * 30 + ":"])
def test_a_shortcode_is_kept_as_it_is(text: str) -> None:
    assert one_emoji(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *[
            "",
            " ",
            "ok",
            "a",
            "1",
            "#",
            "👍👍",
            "👍 ",
            " 👍",
            "👍a",
            "🇩🇪🇫🇷",
            "🇽🇽",
            "🇩",
            "\ufe0f",
            "\u200d",
            "👍\u200d",
            "⃣",
        ],
        *["::", ":A:", ":é:", ":a b:", ":a:\n", ":a::b:", "a:b:", ":a", "❤:a:", "：a：", ":４:"],
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    assert one_emoji(text) is None


def test_the_library_agrees_on_what_an_emoji_is() -> None:
    """Every spelling it knows is one of ours, and leads to one that it calls fully qualified."""
    complete = {STATUS["fully_qualified"], STATUS["component"]}
    for spelling in EMOJI_DATA:
        kept = one_emoji(spelling)
        assert kept is not None
        assert EMOJI_DATA[kept]["status"] in complete
        assert len(kept) <= EMOJI_MAX


@given(st.sampled_from(FULL), st.lists(st.tuples(st.integers(0, 12), st.sampled_from(SELECTORS)), max_size=3))
def test_selectors_anywhere_change_nothing(emoji: str, sprinkled: list[tuple[int, str]]) -> None:
    text = emoji
    for place, selector in sprinkled:
        text = text[:place] + selector + text[place:]
    assert one_emoji(text) == emoji


@given(st.sampled_from(FULL), st.sampled_from(FULL))
def test_two_emoji_are_one_only_as_a_sequence_that_unicode_names(first: str, second: str) -> None:
    assert one_emoji(first + second) in {None, SPELLINGS.get((first + second).replace("\ufe0f", ""))}


@given(st.text(max_size=8))
def test_the_kept_spelling_is_stable(text: str) -> None:
    kept = one_emoji(text)
    assert kept is None or one_emoji(kept) == kept
