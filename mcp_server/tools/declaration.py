"""The declaration of a tool: what the list says about it, who sees it, and the function that runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Set
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

import msgspec
import msgspec.json
from django.http import HttpRequest
from django_mcpz.server import ToolError

from config.api.exception_handler import as_api_error
from config.api.exceptions import ApiError, InvalidInput
from config.cache.rendering import to_json
from mcp_server.api import Api

logger = logging.getLogger(__name__)
Run = Callable[[Api, Any], dict[str, Any]]


class Arguments(msgspec.Struct, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The arguments of a tool. `null` is an absent value of an optional one."""


@dataclass(frozen=True)
class Tool:
    """A tool. `declared` makes one of a function `run(api, arguments)`, and names it after the function."""

    name: str
    run: Run
    _: KW_ONLY
    description: str
    arguments: type[Arguments]
    # The tool is listed for accounts with one of these scopes, people included; without scopes, for everyone.
    scopes: Set[str] = frozenset()
    # Listed for accounts only.
    needs_account: bool = False
    # Arguments that are listed with a scope only.
    scope_of_argument: Mapping[str, str] = field(default_factory=dict)
    output: Mapping[str, Any] | None = None
    is_read: bool = True
    is_destructive: bool = False
    is_idempotent: bool = True

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, in as few words as possible."""
        (definition,) = msgspec.json.schema(self.arguments)["$defs"].values()
        properties = {name: _shortened(value) for name, value in definition["properties"].items()}
        return {name: value for name, value in definition.items() if name != "title"} | {"properties": properties}

    def call(self, request: HttpRequest, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Run the tool. Raises ToolError with the body of a refusal, that of an operation included."""
        try:
            return self.run(Api(request), self._validated(sent))
        except ToolError:
            raise
        except Exception as failure:  # noqa: BLE001  as in the API, a defect is logged and answered by a refusal
            raise ToolError(to_json(self._refusal(failure).body()).decode()) from None

    def _refusal(self, failure: Exception) -> ApiError:
        refusal = as_api_error(failure)
        if refusal is None:
            logger.error("The tool %s failed", self.name, exc_info=failure)
        return refusal or ApiError()

    def _validated(self, sent: Mapping[str, Any]) -> Arguments:
        optional = {each.encode_name for each in msgspec.structs.fields(self.arguments) if not each.required}
        given = {name: value for name, value in sent.items() if value is not None or name not in optional}
        try:
            return msgspec.convert(given, self.arguments)
        except msgspec.ValidationError as failure:
            raise InvalidInput(f"Correct the arguments of {self.name}: {failure}.") from None


def _shortened(schema: dict[str, Any]) -> dict[str, Any]:
    """An optional argument without its null, which need not be sent; a choice with the type that clients expect."""
    if "default" in schema:
        schema = schema["anyOf"][0]
    return {"type": "string", **schema} if "enum" in schema else schema


def declared(**parts: Any) -> Callable[[Run], Tool]:
    """The decorator of a tool's function."""
    return lambda run: Tool(run.__name__, run, **parts)
