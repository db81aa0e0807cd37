"""Form fields of sites: lists with one entry a line, and the address of a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from account_area.fields import WORD_FAULTS
from embeds.checkup import ADDRESS_MAX, NoAddress, parts_of
from embeds.domains import InvalidDomain, is_loopback, normalize_entry
from embeds.models import Shows
from embeds.models.embed import DOMAIN_MAX, DOMAINS_MAX, PATTERN_MAX, PATTERNS_MAX, WORD_MAX, WORDS_MAX
from messaging.word_lists import InvalidWord, check_words
from messaging.word_lists.entries import parse_entry

TEXT_MAX = 700_000


class LinesField(forms.CharField):
    """A list of strings, one a line; `check` returns an entry as it is stored, or raises ValidationError."""

    def __init__(self, *, check: Callable[[str], str], entries_max: int, rows: int = 6, **options: Any) -> None:
        attributes = {"rows": rows, "spellcheck": "false", "autocapitalize": "off"}
        super().__init__(max_length=TEXT_MAX, required=False, widget=forms.Textarea(attrs=attributes), **options)
        self.check, self.entries_max = check, entries_max

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        lines = [line.strip() for line in super().clean(value).splitlines()]
        entries = list(dict.fromkeys(self._checked(number, line) for number, line in enumerate(lines, 1) if line))
        if len(entries) > self.entries_max:
            raise ValidationError(
                ngettext_lazy("At most %(count)s line.", "At most %(count)s lines.", self.entries_max)
                % {"count": self.entries_max}
            )
        return entries

    def _checked(self, number: int, line: str) -> str:
        try:
            return self.check(line)
        except ValidationError as failure:
            raise ValidationError(
                gettext("Line %(number)s: %(reason)s") % {"number": number, "reason": failure.messages[0]}
            ) from None


class DomainsField(LinesField):
    def __init__(self, **options: Any) -> None:
        super().__init__(check=domain_entry, entries_max=DOMAINS_MAX, rows=4, **options)


class PatternsField(LinesField):
    def __init__(self, **options: Any) -> None:
        super().__init__(check=_pattern, entries_max=PATTERNS_MAX, **options)


class WordsField(LinesField):
    def __init__(self, **options: Any) -> None:
        super().__init__(check=_word, entries_max=WORDS_MAX, rows=10, **options)

    def clean(self, value: Any) -> list[str]:
        words = super().clean(value)
        try:
            check_words(words)
        except InvalidWord as failure:
            raise ValidationError(WORD_FAULTS[failure.fault]) from None
        return words


class AddressField(forms.CharField):
    """The address of a page or a site; without a scheme it is https, and http on the local machine."""

    def __init__(self, **options: Any) -> None:
        attributes = {"inputmode": "url", "autocapitalize": "off", "spellcheck": "false", "placeholder": "example.com"}
        super().__init__(max_length=ADDRESS_MAX, widget=forms.TextInput(attrs=attributes), **options)

    def clean(self, value: Any) -> str:
        address = with_scheme(super().clean(value))
        if address:
            try:
                parts_of(address)
            except NoAddress:
                raise ValidationError(_("Write the address of a web page, such as https://example.com/blog.")) from None
        return address


class ShowsField(forms.ChoiceField):
    """Whose posts the widget shows."""

    def __init__(self, **options: Any) -> None:
        choices = [
            (Shows.COMMUNITY.value, _("Only posts of my community")),
            (
                Shows.EVERYONE.value,
                _(
                    "Everything that is written about this page, also by others; you can hide it on your pages, but "
                    "their rules are not yours"
                ),
            ),
        ]
        super().__init__(label=_("What the widget shows"), widget=forms.RadioSelect, choices=choices, **options)


def with_scheme(address: str) -> str:
    if not address or "://" in address:
        return address
    try:
        is_local = is_loopback(parts_of(f"http://{address}")[0])
    except NoAddress:
        is_local = False
    return f"{'http' if is_local else 'https'}://{address}"


def domain_entry(line: str) -> str:
    """The stored form of a domain; of a whole address, its host."""
    try:
        host = parts_of(line)[0] if "://" in line else line
        entry = normalize_entry(host)
    except (NoAddress, InvalidDomain):
        raise ValidationError(_("Write a domain, such as example.com or *.example.com.")) from None
    if len(entry) > DOMAIN_MAX:
        raise ValidationError(_("This is too long."))
    return entry


def _pattern(line: str) -> str:
    """Of a whole address, only the path can match."""
    if "://" in line:
        line = "/" + line.split("://", 1)[1].partition("/")[2]
    if len(line) > PATTERN_MAX:
        raise ValidationError(_("This is too long."))
    if not line.startswith(("/", "*")):
        raise ValidationError(_("A path starts with / or *, such as /blog/*."))
    return line


def _word(line: str) -> str:
    if len(line) > WORD_MAX:
        raise ValidationError(_("This is too long."))
    try:
        parse_entry(line)
    except InvalidWord as failure:
        raise ValidationError(WORD_FAULTS[failure.fault]) from None
    return line
