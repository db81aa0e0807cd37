from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from messaging.word_lists import Fault

# What is wrong with an entry of a word list.
WORD_FAULTS: dict[str, Any] = {
    Fault.TOO_LONG: _("This is too long."),
    Fault.NO_LETTER: _("A blocked word needs a letter or a digit."),
    Fault.TOO_MANY_SIGNS: _("A blocked word has at most four signs on either side."),
    Fault.LIST_TOO_LARGE: _("All entries together are too long. Remove some."),
}


class MultilineField(forms.CharField):
    """A text of lines as the API has it: browsers send each line end of a form as two characters."""

    def __init__(self, *, rows: int, **options: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": rows}), **options)

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        return text.replace("\r\n", "\n")
