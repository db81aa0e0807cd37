from __future__ import annotations

from typing import Any

from django import forms


class MultilineField(forms.CharField):
    """A text of lines as the API has it: browsers send each line end of a form as two characters."""

    def __init__(self, *, rows: int, **options: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": rows}), **options)

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        return text.replace("\r\n", "\n")
