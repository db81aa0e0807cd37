"""Recognition of one emoji (variation selectors normalised) or one shortcode (decision 9)."""

from __future__ import annotations

from emoji import EMOJI_DATA, STATUS
from hypothesis import given
from hypothesis import strategies as st

from reactions.emoji import SPELLINGS, one_emoji
from reactions.models import EMOJI_MAX

SELECTORS = "\ufe0e\ufe0f"
FULL = sorted(SPELLINGS.values())


COMPLETE = ["👍", "👍🏽", "🇩🇪", "1️⃣", "#️⃣", "👨‍👩‍👧‍👦", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "❤️‍🔥", "👩🏽‍❤️‍💋‍👨🏿", "🏳️‍🌈", "🏽"]
SHORTCODES = [":party_parrot:", ":+2:", ":" + "x" * 30 + ":"]
NAMES = {
    ":+1:": "👍",
    ":thumbsup:": "👍",
    ":thumbs_up:": "👍",
    ":-1:": "👎",
    ":heart:": "❤️",
    ":100:": "💯",
    ":de:": "🇩🇪",
    ":thumbs-up:": "👍",
    ":t-rex:": "🦖",
    ":germany:": "🇩🇪",
    ":turkey:": "🦃",
    ":kiss-man-man:": "👨‍❤️‍💋‍👨",
}
NORMALISED = {"❤": "❤️", "❤\ufe0e": "❤️", "👍\ufe0f": "👍", "1⃣": "1️⃣", "🏳‍🌈": "🏳️‍🌈", "✌\ufe0f🏽": "✌🏽", "©": "©️"}
OTHERS = [
    *("", " ", "ok", "a", "1", "#", "👍👍", "👍 ", " 👍", "👍a", "🇩🇪🇫🇷", "🇽🇽", "🇩", "\ufe0f", "\u200d", "👍\u200d", "⃣"),
    *("::", ":A:", ":é:", ":a b:", ":a:\n", ":a::b:", "a:b:", ":a", "❤:a:", "：a：", ":４:"),
]


def test_one_emoji_or_shortcode_is_normalised_and_other_text_refused() -> None:
    expected = {text: text for text in [*COMPLETE, *SHORTCODES]} | NAMES | NORMALISED | dict.fromkeys(OTHERS)
    assert {text: one_emoji(text) for text in expected} == expected


def test_every_emoji_of_the_library_has_a_fully_qualified_spelling() -> None:
    """Every spelling that the library contains is accepted, with a fully-qualified result."""
    complete = {STATUS["fully_qualified"], STATUS["component"]}
    for spelling in EMOJI_DATA:
        stored = one_emoji(spelling)
        assert stored is not None
        assert EMOJI_DATA[stored]["status"] in complete
        assert len(stored) <= EMOJI_MAX


@given(st.sampled_from(FULL), st.lists(st.tuples(st.integers(0, 12), st.sampled_from(SELECTORS)), max_size=3))
def test_variation_selectors_at_any_position_are_ignored(emoji: str, insertions: list[tuple[int, str]]) -> None:
    text = emoji
    for position, selector in insertions:
        text = text[:position] + selector + text[position:]
    assert one_emoji(text) == emoji


@given(st.sampled_from(FULL), st.sampled_from(FULL))
def test_two_emoji_are_one_only_as_a_unicode_sequence(first: str, second: str) -> None:
    assert one_emoji(first + second) in {None, SPELLINGS.get((first + second).replace("\ufe0f", ""))}


@given(st.text(max_size=8))
def test_stored_spelling_is_idempotent(text: str) -> None:
    stored = one_emoji(text)
    assert stored is None or one_emoji(stored) == stored
