"""What counts as one emoji, and the one spelling under which it is kept. Pure: text in, text out."""

from __future__ import annotations

import re
from typing import Final

from emoji import EMOJI_DATA, STATUS

SHORTCODE = re.compile(r":[a-z0-9_+-]+:\Z", re.ASCII)

# U+FE0E asks for a text look and U+FE0F for an emoji look; keyboards set and omit both at will.
VARIATION_SELECTORS: Final = dict.fromkeys((0xFE0E, 0xFE0F))

# The fully-qualified spelling of every emoji Unicode recommends (sequences, skin tones, flags and keycaps are entries
# of their own), by its spelling without variation selectors.
SPELLINGS: Final = {
    spelling.translate(VARIATION_SELECTORS): spelling
    for spelling, entry in EMOJI_DATA.items()
    if entry["status"] in (STATUS["fully_qualified"], STATUS["component"])
}


def one_emoji(text: str) -> str | None:
    """The kept spelling of exactly one emoji or one `:shortcode:`, None for any other text."""
    if SHORTCODE.match(text):
        return text
    return SPELLINGS.get(text.translate(VARIATION_SELECTORS))
