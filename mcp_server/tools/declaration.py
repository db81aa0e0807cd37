"""The declaration of a tool: what the list says about it, who sees it, and the function that runs.

Refusals of the API in the words of a tool: its arguments instead of fields and parameters, tools instead of
addresses.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Set
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

import msgspec.json
from django_mcpz.server import ToolError

from kernel.api.context import ApiHttpRequest
from kernel.api.credentials import CredentialKind
from kernel.api.exception_handler import as_api_error
from kernel.api.exceptions import ApiError
from kernel.api.operations import Operation
from kernel.cache.rendering import to_json
from mcp_server.api import Api, RefusedByApi
from mcp_server.tools.checking import Arguments, checked

# Texts in the messages of the API, and what they are for every tool.
TEXTS = {
    "GET /v1/smart-tags": "the tool reference",
    "GET /v1/communities": "the tool reference",
    "GET /api/messages?pageId=": "the tool read_page",
    "Use the reactionId that POST /v1/reactions returned": "Call the tool again",
    "Get the id of the page from POST /v1/presence/normalize-url with its URL, and send it as pageId": (
        "Send the URL of the page as url"
    ),
}
# The first step of a JSON path such as `attachments[3].url`, and of a pointer such as `/payload/rating`.
HEAD = re.compile(r"[^.\[]+")
POINTER_HEAD = re.compile(r"^[?/]([^/]+)")


def in_words_of_tool(body: Mapping[str, Any], arguments: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, Any]:
    """The body of a refusal. `arguments` maps the names in the API to arguments, `texts` parts of its messages."""
    translated = dict(body)
    if isinstance(body.get("message"), str):
        translated["message"] = _text(body["message"], arguments, texts)
    if isinstance(body.get("field"), str):
        translated["field"] = HEAD.sub(lambda found: arguments.get(found[0], found[0]), body["field"], count=1)
    if "details" in body:
        translated["details"] = [
            {
                "pointer": POINTER_HEAD.sub(lambda found: f"/{arguments.get(found[1], found[1])}", detail["pointer"]),
                "message": _text(detail["message"], arguments, texts),
            }
            for detail in body["details"]
        ]
    return translated


def _text(message: str, arguments: Mapping[str, str], texts: Mapping[str, str]) -> str:
    for text, replacement in {**texts, **TEXTS}.items():
        message = message.replace(text, replacement)
    for name, argument in arguments.items():
        message = message.replace(f"`{name}`", f"`{argument}`")
        # A single letter may be a word, or a part of what the client sent.
        if len(name) > 1:
            message = re.sub(rf"\b{re.escape(name)}\b", argument, message)
    return message


logger = logging.getLogger(__name__)
Run = Callable[[Api, Any], dict[str, Any]]
# Admits the callers of tools that act for an account.
FOR_ACCOUNTS = Operation("getAccount", callers={CredentialKind.AGENT, CredentialKind.PERSON})


@dataclass(frozen=True)
class Tool:
    """A tool. `declared` makes one of a function `run(api, arguments)`, and names it after the function."""

    name: str
    run: Run
    _: KW_ONLY
    title: str
    description: str
    arguments: type[Arguments]
    # The JSON Schema of its results.
    output: Mapping[str, Any]
    # The tool is listed for accounts with one of these scopes, people included; without scopes, for everyone.
    scopes: Set[str] = frozenset()
    # Listed for accounts only.
    needs_account: bool = False
    # Arguments that are listed with a scope only.
    scope_of_argument: Mapping[str, str] = field(default_factory=dict)
    # The arguments by their names in the API, and parts of its messages that differ for the tool: for refusals.
    argument_of: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    # Its result may contain texts of others, and is annotated so: the hint of the open world.
    has_texts_of_others: bool = False
    is_read: bool = True
    is_destructive: bool = False
    is_idempotent: bool = True

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, in as few words as possible."""
        (definition,) = msgspec.json.schema(self.arguments)["$defs"].values()
        properties = {name: _shortened(value) for name, value in definition["properties"].items()}
        schema = {name: value for name, value in definition.items() if name != "title" and value != []}
        return schema | {"properties": properties}

    def call(self, request: ApiHttpRequest, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Run the tool. Raises ToolError with the body of a refusal, that of an operation included.

        A caller that lacks a scope is refused by the operation, which knows the one that this call needs.
        """
        api = Api(request)
        try:
            if self.scopes or self.needs_account:
                FOR_ACCOUNTS.admit(api.credential)
            arguments = checked(self.arguments, sent, self.schema["properties"], self.argument_of)
        except ApiError as refusal:
            # It speaks of arguments already, and may say how another name of one is called here.
            raise ToolError(to_json(refusal.body()).decode()) from None
        try:
            return self.run(api, arguments)
        except RefusedByApi as refused:
            body = refused.body
        except Exception as failure:  # noqa: BLE001  as in the API, a defect is logged and answered by a refusal
            body = self._refusal(failure).body()
        raise ToolError(to_json(in_words_of_tool(body, self.argument_of, self.texts)).decode())

    def _refusal(self, failure: Exception) -> ApiError:
        refusal = as_api_error(failure)
        if refusal is None:
            logger.error("The tool %s failed", self.name, exc_info=failure)
        return refusal or ApiError()


def _shortened(schema: dict[str, Any]) -> dict[str, Any]:
    """An argument without its null, which need not be sent; a choice with the type that clients expect.

    Clients leave out tools whose arguments have several types.
    """
    schema = {name: value for name, value in schema.items() if name != "default"}
    if "anyOf" in schema:
        schema |= schema.pop("anyOf")[0]
    return {"type": "string", **schema} if "enum" in schema else schema


__all__ = ["Arguments", "Tool", "declared"]


def declared(**parts: Any) -> Callable[[Run], Tool]:
    """The decorator of a tool's function."""
    return lambda run: Tool(run.__name__, run, **parts)
