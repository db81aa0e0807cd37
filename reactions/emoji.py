"""Recognizes one emoji and returns its stored spelling."""

from __future__ import annotations

import re
from typing import Final

from emoji import EMOJI_DATA, STATUS

SHORTCODE = re.compile(r":[a-z0-9_+-]+:\Z", re.ASCII)

# U+FE0E requests text presentation and U+FE0F emoji presentation; keyboards differ in whether they add them.
VARIATION_SELECTORS: Final = dict.fromkeys((0xFE0E, 0xFE0F))

# The fully-qualified spelling of every emoji that Unicode recommends (each sequence, skin tone, flag and keycap is an
# entry), by its spelling without variation selectors.
SPELLINGS: Final = {
    spelling.translate(VARIATION_SELECTORS): spelling
    for spelling, entry in EMOJI_DATA.items()
    if entry["status"] in (STATUS["fully_qualified"], STATUS["component"])
}

# The same spellings by their names, such as `:+1:` and `:thumbs_up:`: one emoji is one reaction, however it is named.
_NAMES: Final[dict[str, str]] = {
    name: SPELLINGS[spelling.translate(VARIATION_SELECTORS)]
    for spelling, entry in EMOJI_DATA.items()
    if spelling.translate(VARIATION_SELECTORS) in SPELLINGS
    for name in (entry["en"], *entry.get("alias", ()))
}
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")
# Programs differ in capitals and hyphens. Where two emoji have such names, small letters win: `:turkey:` is the bird.
NAMES: Final[dict[str, str]] = {_HYPHEN.sub("_", name.lower()): emoji for name, emoji in _NAMES.items()} | {
    name.lower(): emoji for name, emoji in sorted(_NAMES.items())
}


def is_shortcode(emoji: str) -> bool:
    """Whether a stored spelling is a name without an emoji."""
    return emoji.startswith(":")


def words_of(shortcode: str) -> str:
    """What readers read in it: `:well_said:` is `well said`."""
    return re.sub(r"[_+-]+", " ", shortcode.strip(":"))


def one_emoji(text: str) -> str | None:
    """The stored spelling of exactly one emoji, also by its name, or one `:shortcode:`; None for any other text."""
    if SHORTCODE.match(text):
        return NAMES.get(text) or NAMES.get(_HYPHEN.sub("_", text), text)
    return SPELLINGS.get(text.translate(VARIATION_SELECTORS))
