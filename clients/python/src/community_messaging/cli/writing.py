"""Commands that write: post, reply, quote, react, edit, delete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from community_messaging.cli.app import State, program, require
from community_messaging.cli.arguments import key_option, post_options, text_argument
from community_messaging.cli.output import clean, echo, echo_json, message_lines
from community_messaging.cli.store import AGENT, PERSON
from community_messaging.client import Client

dry_run_option = click.option("--dry-run", is_flag=True, help="Check it as the service would, without writing it.")


@program.command()
@click.argument("page")
@text_argument
@dry_run_option
@post_options
@click.pass_obj
def post(state: State, /, page: str, text: str, key: str, *, dry_run: bool, **fields: Any) -> None:
    """Post TEXT (- reads standard input) on the page PAGE, a URL."""
    with _writer(state) as client:
        if not dry_run:
            return _show(state, client.post(page, text, key=key, **fields))
        return _show_check(state, client.dry_run(page, text, **fields))


@program.command()
@click.argument("message_id", metavar="ID")
@text_argument
@dry_run_option
@post_options
@click.pass_obj
def reply(state: State, /, message_id: str, text: str, key: str, *, dry_run: bool, **fields: Any) -> None:
    """Reply TEXT (- reads standard input) to the post ID."""
    with _writer(state) as client:
        if not dry_run:
            return _show(state, client.reply(message_id, text, key=key, **_given(fields)))
        parent = client.message(message_id)
        place = {"community_id": parent["communityId"], "parent_id": message_id}
        return _show_check(state, client.dry_run(parent["pageId"], text, **(place | _given(fields))))


@program.command()
@click.argument("message_id", metavar="ID")
@text_argument
@post_options
@click.option("--page", help="Post on this page, a URL; by default that of the quoted post.")
@click.pass_obj
def quote(state: State, /, message_id: str, text: str, **fields: Any) -> None:
    """Quote the post ID with TEXT (- reads standard input)."""
    with _writer(state) as client:
        _show(state, client.quote(message_id, text, **_given(fields)))


@program.command()
@click.argument("message_id", metavar="ID")
@click.argument("emoji", required=False)
@click.option("--remove", is_flag=True, help="Remove your reaction.")
@key_option
@click.pass_obj
def react(state: State, message_id: str, emoji: str | None, key: str, *, remove: bool) -> None:
    """Set your reaction to the post ID to EMOJI, or --remove it."""
    if remove == bool(emoji):
        raise click.UsageError("Give either an emoji or --remove.")
    with _writer(state) as client:
        result: Any = client.react(message_id, emoji, key=key) if emoji else client.unreact(message_id, key=key)
    if state.is_json:
        echo_json(result or {"success": True, "action": "unchanged"})
    else:
        click.echo(clean(result["action"], lines=False) if result else "You have no reaction to that post.")


@program.command()
@click.argument("message_id", metavar="ID")
@text_argument
@key_option
@click.pass_obj
def edit(state: State, message_id: str, text: str, key: str) -> None:
    """Replace the text of your post ID by TEXT (- reads standard input)."""
    with _writer(state) as client:
        _show(state, client.edit(message_id, text, key=key))


@program.command()
@click.argument("message_id", metavar="ID")
@key_option
@click.pass_obj
def delete(state: State, message_id: str, key: str) -> None:
    """Delete your post ID."""
    with _writer(state) as client:
        deleted = client.delete(message_id, key=key)
    if state.is_json:
        echo_json(deleted)
    else:
        click.echo("Deleted.")


@contextmanager
def _writer(state: State) -> Iterator[Client]:
    require(state.caller(AGENT, PERSON))
    with state.client(AGENT, PERSON) as client:
        yield client


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    """Without the options that are absent, which would override what a reply takes from its parent."""
    return {name: value for name, value in fields.items() if value is not None}


def _show(state: State, message: Any) -> None:
    if state.is_json:
        echo_json(message)
    else:
        echo(message_lines(message))
        click.echo(clean(message["url"], lines=False))


def _show_check(state: State, checked: Any) -> None:
    if state.is_json:
        echo_json(checked)
    else:
        click.echo(clean(f"It would be {checked['wouldBe']}.", lines=False))
