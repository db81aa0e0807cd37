"""What only our own exports have of a post: its smart tag, anchors and attachments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from django.core.exceptions import ValidationError
from rest_framework.exceptions import APIException

from kernel.api.bodies import check_value
from kernel.api.exception_handler import faults_of
from kernel.api.exceptions import ApiError
from kernel.api.exceptions.base import shortened
from messaging.posts.exceptions import InvalidPayload
from messaging.posts.message_fields import CONTENT_FIELDS
from messaging.posts.serializers import NewMessage
from messaging.validation import require_tag
from moving.formats.own import time_of
from moving.imports.texts import storable

NAMES = {field.name: field.column for field in CONTENT_FIELDS if field.name != "content"}
DEFAULTS = {field.column: field.model_field.get_default() for field in CONTENT_FIELDS if field.name != "content"}
OF_TAG = ("tagType", "payload")
# Also copied to the row of a post (see `quotes` and `writing`).
OTHERS = ("quoteId", "updatedAt")


def checked(extra: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """(the columns and OTHERS, by name why a field cannot be used). The rules are those of createMessage."""
    sent = {name: _storable(extra[name]) for name in (*NAMES, *OTHERS) if extra.get(name) is not None}
    fields, columns, refused = NewMessage().fields, {}, {}
    for name, column in NAMES.items():
        if name in sent:
            try:
                check_value({name: sent[name]})
                columns[column] = fields[name].run_validation(sent[name])
            except (APIException, ValidationError, ValueError) as failure:
                refused[name] = why(failure)
    try:
        require_tag(columns.get("tag_type"), columns.get("payload"))
    except APIException as failure:
        both = [name for name in OF_TAG if columns.pop(NAMES[name], None) is not None]
        refused |= dict.fromkeys(both, why(failure))
    return columns | _others(sent, refused), refused


def _others(sent: dict[str, Any], refused: dict[str, str]) -> dict[str, Any]:
    """Those of OTHERS that can be used; adds to `refused` why others cannot."""
    others = {name: sent[name] for name in OTHERS if name in sent}
    if not isinstance(others.get("quoteId", ""), str):
        del others["quoteId"]
        refused["quoteId"] = "Send a text"
    return others


def has_content(values: Mapping[str, Any]) -> bool:
    """Whether a post may have these and no text."""
    return bool(values.get("tag_type") or values.get("attachments") or values.get("quoteId"))


def why(failure: Exception) -> str:
    """The first thing that is wrong, without a full stop. It may quote a part of the value."""
    match failure:
        case InvalidPayload():
            problem = failure.fields["details"][0]
            text = f"{problem['pointer']}: {problem['message']}"
        case ApiError():
            text = failure.message
        case APIException():
            text = next(faults_of(failure.detail)).text
        case ValidationError():
            text = failure.messages[0]
        case _:
            text = str(failure)
    return shortened(text).removesuffix(".")


def columns_of(extra: str | None) -> dict[str, Any]:
    """The values of the columns beside `content`, by column, and `updated_at` or None."""
    found = {} if extra is None else orjson.loads(extra)
    own = {name: value for name, value in found.items() if name in DEFAULTS}
    return DEFAULTS | own | {"updated_at": time_of(found.get("updatedAt"))}


def _storable(value: Any) -> Any:
    """JSON has at most 255 levels after the reader."""
    match value:
        case str():
            return storable(value)
        case list():
            return [_storable(each) for each in value]
        case dict():
            return {storable(str(name)): _storable(each) for name, each in value.items()}
    return value
