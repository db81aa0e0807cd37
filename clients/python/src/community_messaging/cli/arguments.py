"""Arguments and options that several commands take."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import click


class Text(click.ParamType):
    """A text, or `-` for standard input."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            if value == "-":
                return sys.stdin.buffer.read().decode().removesuffix("\n")
            # An argument with bytes that are no UTF-8 has surrogates.
            value.encode()
        except UnicodeError:
            self.fail("is not encoded in UTF-8", param, ctx)
        return str(value)


class Json(Text):
    """A JSON object as a text."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text = super().convert(value, param, ctx)
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError) as error:
            self.fail(f"is not JSON: {error}", param, ctx)
        return parsed if isinstance(parsed, dict) else self.fail("is no JSON object", param, ctx)


text_argument = click.argument("text", type=Text())
key_option = click.option(
    "--key",
    default=lambda: str(uuid4()),
    help="The Idempotency-Key: a repeated command with the same key writes once.",
)
limit_option = click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many.")


def post_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of commands that write a post."""
    for option in (
        key_option,
        click.option("--community", "community_id", help="The id of a community."),
        click.option("--tag", "tag_type", help="Make it a smart tag of this type."),
        click.option("--payload", type=Json(), help="The payload of the smart tag as JSON; - reads standard input."),
        click.option("--language"),
    ):
        command = option(command)
    return command


def secret(prompt: str, *, confirm: bool = False) -> str:
    """A secret: prompted for on a terminal, else the first line of standard input. Never an argument."""
    if sys.stdin.isatty():
        return str(click.prompt(prompt, hide_input=True, confirmation_prompt=confirm, err=True))
    try:
        line = sys.stdin.readline().rstrip("\r\n")
    except UnicodeError:
        raise click.UsageError(f"{prompt}: standard input is not encoded in UTF-8") from None
    if not line:
        raise click.UsageError(f"{prompt}: nothing on standard input")
    return line
