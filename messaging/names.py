"""What a name may hold: of people, agents, communities, embeds and tokens.

A name is shown beside other people's words, so it must show something, must not look like another by characters that
show nothing, and must not turn round what comes after it.
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

# Fillers and selectors, of which some count as letters or marks, and the blank pattern of Braille.
_SHOWN_AS_NOTHING = re.compile(f"[{ZERO_WIDTH}\u2800]")
_SEPARATORS = {"Zl", "Zp"}
_VISIBLE = "LNPS"
# Which of its two forms the emoji before it has.
_PRESENTATIONS = ("\ufe0e", "\ufe0f")
# In a list of characters: an emoji, and what is before the first and after the last.
EMOJI = ""
_JOINERS = "\u200c\u200d"
_VIRAMA = 9


class Named(models.Model):
    """A model whose `name` is checked with its other fields, unless it is excluded."""

    name: str

    class Meta:
        abstract = True

    def clean_fields(self, exclude: Collection[str] | None = None) -> None:
        super().clean_fields(exclude=exclude)
        if "name" not in (exclude or ()):
            try:
                validate_name(self.name)
            except ValidationError as failure:
                raise ValidationError({"name": failure}) from None


def validate_name(name: str) -> None:
    """Raises ValidationError for a character that has no place in a name, or where nothing of it is visible."""
    characters = list(_without_emoji(name))
    for before, character, after in zip(["", *characters], characters, [*characters[1:], ""], strict=False):
        if _is_refused(character) and not _joins(before, character, after):
            raise _refusal(character)
    if name and not any(map(_is_visible, characters)):
        raise ValidationError("A name needs a visible character.", code="invisible")


def validate_edges(text: str, name: str) -> None:
    """Raises ValidationError where more than spaces was trimmed off `text` to make `name`."""
    for character in set(text.replace(name, "", 1)):
        if _is_refused(character):
            raise _refusal(character)


def _refusal(character: str) -> ValidationError:
    return ValidationError(f"A name may not hold U+{ord(character):04X}.", code="character")


def _is_visible(character: str) -> bool:
    return character == EMOJI or unicodedata.category(character)[0] in _VISIBLE


def _is_refused(character: str) -> bool:
    """Control, format, private, unassigned and lone surrogate characters, line separators, and what shows nothing."""
    if character == EMOJI:
        return False
    category = unicodedata.category(character)
    return category[0] == "C" or category in _SEPARATORS or _SHOWN_AS_NOTHING.match(character) is not None


def _joins(before: str, character: str, after: str) -> bool:
    """Where joiners change how letters look: beside a virama (Indic scripts), between Arabic letters (Persian)."""
    if character not in _JOINERS:
        return False
    beside = [each for each in (before, after) if each != EMOJI]
    if before != EMOJI and any(unicodedata.combining(each) == _VIRAMA for each in beside):
        return True
    return character == "\u200c" and [unicodedata.bidirectional(each) for each in beside] == ["AL", "AL"]


def _without_emoji(name: str) -> Iterator[str]:
    """Each character, and EMOJI for each emoji, whose own joiners, selectors and tags are part of it."""
    at = 0
    for token in emoji.analyze(name, join_emoji=True):
        found: Any = token.value
        yield from name[at : found.start]
        yield EMOJI
        at = found.end + (name[found.end : found.end + 1] in _PRESENTATIONS)
    yield from name[at:]
