"""The colour of text on the colour of an embed."""

from __future__ import annotations

DARK_INK, LIGHT_INK = "#000", "#fff"


def ink_on(color: str) -> str:
    """Return black or white: the one with more contrast on `#rgb` or `#rrggbb` (WCAG 2 relative luminance)."""
    digits = color[1:]
    parts = [digits[at] * 2 for at in range(3)] if len(digits) == 3 else [digits[at : at + 2] for at in (0, 2, 4)]
    channels = [int(part, 16) / 255 for part in parts]
    linear = [channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return DARK_INK if luminance > 0.179 else LIGHT_INK
