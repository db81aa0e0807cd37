"""Strict serializer fields, which convert no types.

DRF's own fields accept `5` as a string, `"5"` and `1_0` as an integer and `"yes"` as a boolean. Over `cap=` is a 413
with the field's JSON path (`attachments[3].url`), over `max_length` a 400.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from uuid import UUID

import orjson
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from kernel.api.exceptions import ContentTooLong, InvalidCursor, OverCap, PayloadTooLarge
from kernel.api.ids import is_id
from kernel.api.operations import BOOLEAN_TEXT
from kernel.api.serializers import QuerySerializer

INTEGER_TEXT = re.compile(r"-?[0-9]{1,100}\Z", re.ASCII)  # Bounded, because int() is slow for long texts.
CURSOR_MAX = 128


def path_of(field: serializers.Field[Any, Any, Any, Any]) -> str:
    """The JSON path of a field inside the body: `payload`, `attachments[3].url`."""
    parent = field.parent
    if parent is None:
        return ""
    prefix = path_of(parent)
    if isinstance(parent, ListOf):
        return f"{prefix}[{parent.index}]"
    return f"{prefix}.{field.field_name}" if prefix else str(field.field_name)


def _shown(data: Any) -> str:
    """A wrong value as an error message quotes it: shortened, as it may be as long as the body."""
    return type(data).__name__ if isinstance(data, (dict, list)) else str(data)[:40]


class Text(serializers.CharField):
    """A string, as sent. `cap`: more code points are a 413; `trim` strips white space before `max_length` applies."""

    default_error_messages = {
        "invalid": "Send a text.",
        "blank": "Send a text that is not empty.",
        "max_length": "Send at most {max_length} characters.",
        "min_length": "Send at least {min_length} characters.",
        "pattern": "Send a text that matches {pattern}.",
    }
    # Words of JSON Schema for what a subclass also enforces.
    documented: Mapping[str, Any] = MappingProxyType({})

    def __init__(
        self,
        *,
        cap: int | None = None,
        over: type[OverCap] = ContentTooLong,
        pattern: re.Pattern[str] | None = None,
        trim: bool = False,
        **kwargs: Any,
    ) -> None:
        self.cap, self.over, self.pattern = cap, over, pattern
        super().__init__(trim_whitespace=trim, **kwargs)
        # Neither the parser nor a query string accepts a lone surrogate; DRF would check every character for one.
        self.validators = [
            each for each in self.validators if not isinstance(each, ProhibitSurrogateCharactersValidator)
        ]

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if isinstance(data, str) and self.cap is not None and len(data) > self.cap:
            raise self.over(field=path_of(self), max=self.cap)
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        value = data.strip() if self.trim_whitespace else data
        # Checked here, because DRF's validators run after `to_internal_value` of a subclass.
        if self.max_length is not None and len(value) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        if self.pattern is not None and not self.pattern.match(value):
            self.fail("pattern", pattern=self.pattern.pattern.replace(r"\Z", "$"))
        return value


class Integer(serializers.IntegerField):
    """An integer; in the query string, ASCII digits. Any other value is answered with the numbers that are accepted."""

    def __init__(self, *, min_value: int | None = None, max_value: int | None = None, **kwargs: Any) -> None:
        bounds = {"at least": min_value, "at most": max_value}
        known = " and ".join(f"{words} {bound}" for words, bound in bounds.items() if bound is not None)
        message = f"Send a number, {known}." if known else "Send a number."
        messages: dict[str, Any] = dict.fromkeys(("invalid", "min_value", "max_value"), message)
        super().__init__(min_value=min_value, max_value=max_value, error_messages=messages, **kwargs)

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, str) and isinstance(self.parent, QuerySerializer) and INTEGER_TEXT.match(data):
            return int(data)
        if type(data) is not int:
            self.fail("invalid")
        return data


class Boolean(serializers.BooleanField):
    """true or false; in the query string also 1 and 0, and in any case."""

    default_error_messages = {"invalid": "Send true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if isinstance(data, str) and isinstance(self.parent, QuerySerializer) and data.lower() in BOOLEAN_TEXT:
            return BOOLEAN_TEXT[data.lower()]
        if not isinstance(data, bool):
            self.fail("invalid", input=_shown(data))
        return data


class Id(serializers.UUIDField):
    """A uuid in canonical form."""

    default_error_messages = {"invalid": "Send an id, which is a UUID."}

    def to_internal_value(self, data: Any) -> UUID:
        if not is_id(data):
            self.fail("invalid", value=_shown(data))
        return UUID(data)


class Choice(serializers.ChoiceField):
    """One of the choices, as a string."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or data not in self.choice_strings_to_values:
            self.fail("invalid_choice", input=_shown(data))
        return super().to_internal_value(data)


class Object(serializers.DictField):
    """A JSON object, stored as sent. `cap`: more bytes of compact UTF-8 JSON are a 413."""

    default_error_messages = {"not_a_dict": "Send an object."}

    def __init__(self, *, cap: int | None = None, **kwargs: Any) -> None:
        self.cap = cap
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("not_a_dict", input_type=type(data).__name__)
        if self.cap is not None and len(orjson.dumps(data)) > self.cap:
            raise PayloadTooLarge(field=path_of(self), max=self.cap)
        return data


class ListOf(serializers.ListField):
    """An array. `cap`: more items are a 413; `max_length`: a 400. `index`: the current item, for JSON paths."""

    default_error_messages = {"not_a_list": "Send a list.", "max_length": "Send at most {max_length} items."}
    index = 0

    def __init__(self, *, cap: int | None = None, **kwargs: Any) -> None:
        self.cap = cap
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("not_a_list", input_type=type(data).__name__)
        if self.cap is not None and len(data) > self.cap:
            raise PayloadTooLarge(field=path_of(self), max=self.cap, unit="items")
        # DRF would validate every item first.
        if self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return super().to_internal_value(data)

    def run_child_validation(self, data: Sequence[Any]) -> list[Any]:
        result: list[Any] = []
        errors: dict[Any, Any] = {}
        for self.index, item in enumerate(data):
            try:
                result.append(self.child.run_validation(item))
            except serializers.ValidationError as failure:
                errors[self.index] = failure.detail
        if errors:
            raise serializers.ValidationError(errors)
        return result


class CursorText(Text):
    """An opaque cursor; one that is too long is refused before it is decoded."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if isinstance(data, str) and not 0 < len(data) <= CURSOR_MAX:
            raise InvalidCursor
        return super().run_validation(data)


class ListQuery(QuerySerializer):
    """The query parameters of every list."""

    limit = Integer(min_value=1, default=10, help_text="Rows of a page; more than 100 is served as 100.")
    cursor = CursorText(required=False, help_text="`nextCursor` of the previous page.")


class _NullIfEmpty(serializers.Field):
    """A field of a response: null for a value that the database stores as empty."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, **kwargs)

    def to_representation(self, value: Any) -> Any:
        return value or None


class NullableText(_NullIfEmpty, serializers.CharField): ...


class NullableChoice(_NullIfEmpty, serializers.ChoiceField): ...
