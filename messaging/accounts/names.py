"""Validation of the names of people, agents, communities, embeds and tokens.

A name is shown beside text by other authors, so it needs a visible character, must not imitate another name with
invisible characters, and must not change the direction of the text after it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from typing import Any

import emoji
from django.core.exceptions import ValidationError
from django.db import models

from messaging.word_lists.characters import ZERO_WIDTH

# Fillers and selectors, some of which are letters or marks to Unicode, and the blank pattern of Braille.
_INVISIBLE = re.compile(f"[{ZERO_WIDTH}\u2800]")
# Most fonts show nothing for a place of an object and for a note without its head either.
_BLANK = re.compile(f"[{ZERO_WIDTH}\u2800\ufffc\U0001d159]")
_SEPARATORS = {"Zl", "Zp"}
_SPACES = re.compile("[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
_VISIBLE = "LNPS"
# Variation selectors: text or emoji presentation of the preceding emoji.
_PRESENTATIONS = ("\ufe0e", "\ufe0f")
# In a list of characters: represents an emoji, and the position before the first and after the last character.
EMOJI = ""
_JOINERS = "\u200c\u200d"
_VIRAMA = 9
_JOINED_KEYCAP = re.compile("\u20e3\u200d|\u200d[0-9#*]")


class Named(models.Model):
    """A model whose `name` is collapsed and checked with its other fields, unless it is excluded."""

    name: str

    class Meta:
        abstract = True

    def clean_fields(self, exclude: Collection[str] | None = None) -> None:
        if "name" not in (exclude or ()):
            self.name = collapsed(self.name)
        super().clean_fields(exclude=exclude)
        if "name" not in (exclude or ()):
            try:
                validate_name(self.name)
            except ValidationError as failure:
                raise ValidationError({"name": failure}) from None


def collapsed(name: str) -> str:
    """Spaces of any number and width as one: a reader sees little difference."""
    return _SPACES.sub(" ", name)


def validate_name(name: str) -> None:
    """Raises ValidationError for a character that names must not contain, or if no character is visible."""
    characters = list(_without_emoji(name))
    for before, character, after in zip(["", *characters], characters, [*characters[1:], ""], strict=False):
        if _is_refused(character) and not _joins(before, character, after):
            raise _refusal(character)
    if name and not any(map(_is_visible, characters)):
        raise ValidationError("A name needs a visible character.", code="invisible")


def validate_edges(text: str, name: str) -> None:
    """Raises ValidationError if a refused character was trimmed off `text` to create `name`."""
    for character in set(text.replace(name, "", 1)):
        if _is_refused(character):
            raise _refusal(character)


def _refusal(character: str) -> ValidationError:
    return ValidationError(f"A name may not contain U+{ord(character):04X}.", code="character")


def is_visible_text(text: str) -> bool:
    """Whether a text has a character that is seen: a letter, number, punctuation or symbol that is no blank filler."""
    return any(_is_visible(character) and not _BLANK.match(character) for character in text)


def _is_visible(character: str) -> bool:
    return character == EMOJI or unicodedata.category(character)[0] in _VISIBLE


def _is_refused(character: str) -> bool:
    """Control, format, private, unassigned, lone surrogate and invisible characters, and line separators."""
    if character == EMOJI:
        return False
    category = unicodedata.category(character)
    return category[0] == "C" or category in _SEPARATORS or _INVISIBLE.match(character) is not None


def _joins(before: str, character: str, after: str) -> bool:
    """Whether a joiner changes how letters look: beside a virama (Indic scripts), between Arabic letters (Persian)."""
    if character not in _JOINERS:
        return False
    beside = [each for each in (before, after) if each != EMOJI]
    if before != EMOJI and any(unicodedata.combining(each) == _VIRAMA for each in beside):
        return True
    return character == "\u200c" and [unicodedata.bidirectional(each) for each in beside] == ["AL", "AL"]


def _without_emoji(name: str) -> Iterator[str]:
    """Each character, and EMOJI for each emoji with its joiners, selectors and tags."""
    at = 0
    for token in emoji.analyze(name, join_emoji=True):
        match: Any = token.value
        yield from name[at : match.start]
        # Unicode joins no keycap to another emoji (UTS 51, emoji_zwj_element); the library does.
        yield from (EMOJI, "\u200d", EMOJI) if _JOINED_KEYCAP.search(match.emoji) else (EMOJI,)
        at = match.end + (name[match.end : match.end + 1] in _PRESENTATIONS)
    yield from name[at:]
