"""Strict serializers of bodies and query strings, and one instance of each serializer per thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from threading import get_ident
from typing import Any, ClassVar

from django.http import QueryDict
from rest_framework import serializers

from kernel.api.exception_handler import invalid_input
from kernel.api.exceptions import InvalidInput, InvalidParameter, UnknownField
from kernel.api.exceptions.base import shortened

SEPARATORS = str.maketrans("", "", "_-")


def folded(name: str) -> str:
    """The name without case, underscores and hyphens: equal for all spellings of one."""
    return name.translate(SEPARATORS).casefold()


class SentSerializer(serializers.Serializer[Any]):
    """Validates the fields that were sent, are required or have a default: DRF visits every field each time."""

    default_error_messages = {"invalid": "Send an object."}
    # What an invalid value is refused with.
    refusal = InvalidInput
    sent: Any = ()

    def to_internal_value(self, data: Any) -> Any:
        self.sent = data
        return super().to_internal_value(data)

    @property
    def _writable_fields(self) -> list[serializers.Field[Any, Any, Any, Any]]:
        return [
            field
            for field in super()._writable_fields
            if field.field_name in self.sent or field.required or field.default is not serializers.empty
        ]


class BodySerializer(SentSerializer):
    """A request body, or an object in one. Unknown fields are ignored; an optional field that is `null` is absent.

    A body without required fields may be `null` or absent.
    """

    # The class of the fields that the OpenAPI document describes once for several bodies.
    openapi_base: ClassVar[type[BodySerializer] | None] = None

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        fields = super().get_fields()
        for field in fields.values():
            field.allow_null = self.partial or not field.required
        return fields

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if data is None and all(field.allow_null for field in self.fields.values()):
            data = {}
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and None in data.values():
            optional = {name for name, field in self.fields.items() if field.allow_null}
            data = {name: value for name, value in data.items() if value is not None or name not in optional}
        return super().to_internal_value(data)


class SpelledBodySerializer(BodySerializer):
    """A body that refuses other spellings of its fields: without its `parent_id`, a reply would be a new post."""

    # What else is refused, by its folded name, and the message that says what to do.
    elsewhere: ClassVar[Mapping[str, str]] = {}

    @cached_property
    def _spellings(self) -> dict[str, str]:
        return {folded(name): name for name in self._names}

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(map(str, self.fields))

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := data.keys() - self._names):
            self._refuse_spellings(sorted(unknown))
        return super().to_internal_value(data)

    def _refuse_spellings(self, unknown: Iterable[str]) -> None:
        """Raises UnknownField (400)."""
        for name in unknown:
            meant = self._spellings.get(folded(name))
            if meant is not None:
                raise UnknownField(
                    f"Did you mean `{meant}`? There is no `{name}`.", field=shortened(name), allowed=[meant]
                )
            if message := self.elsewhere.get(folded(name)):
                raise UnknownField(message, field=shortened(name))


class QuerySerializer(SentSerializer):
    """A query string. Unknown parameters are ignored; a known one that is repeated is a 400."""

    refusal = InvalidParameter

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, QueryDict):
            for name, values in data.lists():
                if len(values) > 1 and name in self.fields:
                    raise InvalidParameter(f"Send `{name}` once: it is repeated.", field=name)
            data = data.dict()
        return super().to_internal_value(data)


def render(serializer: Any, instance: Any) -> Any:
    """The representation of an instance by a serializer class."""
    return _instance_of(serializer, get_ident()).to_representation(instance)


def validated(serializer: Any, data: Any) -> dict[str, Any]:
    """The validated data, in snake_case; raises a 400 or 413."""
    instance: SentSerializer = _instance_of(serializer, get_ident())
    try:
        return dict(instance.run_validation(data))
    except serializers.ValidationError as failure:
        raise invalid_input(failure.detail, instance.refusal, instance) from None


@cache
def _instance_of(serializer: Any, _thread: int) -> Any:
    """One instance per thread: creating one copies all its fields, and a ListOf field stores the current index."""
    return serializer()
