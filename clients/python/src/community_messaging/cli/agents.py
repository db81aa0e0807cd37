"""Commands of people about agents: request, widen, status, cancel, token."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from community_messaging.cli.app import Program, State, program, require
from community_messaging.cli.arguments import key_option
from community_messaging.cli.output import clean, echo_json
from community_messaging.cli.store import AGENT, PERSON
from community_messaging.client import Client
from community_messaging.credentials import Credential


@program.command()
@click.option("--handle", required=True, help="3 to 30 of a-z, 0-9 and underscores.")
@click.option("--name", required=True)
@click.option("--purpose", required=True, help="What it does, in at least 20 characters: a super admin reads it.")
@click.option("--scope", "scopes", multiple=True, required=True, help="post, reply, quote or react; may be repeated.")
@click.option("--community", "community_ids", multiple=True, help="Limit it to this community, an id; may be repeated.")
@click.option("--website")
@key_option
@click.pass_obj
def request(state: State, /, **fields: Any) -> None:
    """Request an agent. A super admin decides; `cm status` shows the decision."""
    with _person(state) as client:
        _show_request(state, client.request_agent(**fields))


@program.command()
@click.argument("agent_id", metavar="AGENT")
@click.option("--purpose", required=True, help="What it needs them for, in at least 20 characters.")
@click.option("--scope", "scopes", multiple=True, required=True, help="post, reply, quote or react; may be repeated.")
@click.option("--community", "community_ids", multiple=True, help="Also in this community, an id; may be repeated.")
@click.option("--everywhere", is_flag=True, help="In every community.")
@key_option
@click.pass_obj
def widen(state: State, /, *, everywhere: bool, community_ids: tuple[str, ...], **fields: Any) -> None:
    """Ask for more rights of your agent, AGENT, an id. A super admin decides."""
    if everywhere and community_ids:
        raise click.UsageError("Use --community or --everywhere.")
    communities = [] if everywhere else list(community_ids) or None
    with _person(state) as client:
        _show_request(state, client.widen_agent(**fields, community_ids=communities))


@program.command()
@click.argument("request_id", metavar="[ID]", required=False)
@click.pass_obj
def status(state: State, request_id: str | None) -> None:
    """Show your agent requests, or one of them."""
    with _person(state) as client:
        if request_id:
            return _show_request(state, client.agent_request(request_id))
        requests = list(client.agent_requests(page_size=100))
    if state.is_json:
        return echo_json({"requests": requests})
    for found in requests:
        _show_request(state, found)
    return None


@program.command()
@click.argument("request_id", metavar="ID")
@key_option
@click.pass_obj
def cancel(state: State, request_id: str, key: str) -> None:
    """Cancel your pending agent request."""
    with _person(state) as client:
        _show_request(state, client.cancel_agent_request(request_id, key=key))


@program.group(cls=Program)
def token() -> None:
    """Create, list and revoke the tokens of your agents."""


@token.command()
@click.argument("request_id", metavar="REQUEST")
@click.option("--label", help="To recognise the token by.")
@click.option("--days", type=int, help="Valid for 1 to 365 days; by default 90.")
@click.option("--save", is_flag=True, help="Do not print the token: sign in with it on this machine.")
@key_option
@click.pass_obj
def create(state: State, request_id: str, label: str | None, days: int | None, key: str, *, save: bool) -> None:
    """Create a token of the agent of an approved REQUEST. It is shown once."""
    with _person(state) as client:
        created: dict[str, Any] = {**client.create_agent_token(request_id, label=label, expires_in_days=days, key=key)}
    if save:
        with state.warning_if_not_stored("The token"):
            state.store.put(state.base_url, AGENT, Credential(created["token"]))
            state.store.address = state.base_url
            del created["token"]
    _show_token(state, created)


@token.command("list")
@click.pass_obj
def list_tokens(state: State) -> None:
    """List the tokens of your agents, without their values."""
    with _person(state) as client:
        tokens = list(client.agent_tokens(page_size=100))
    if state.is_json:
        return echo_json({"tokens": tokens})
    for found in tokens:
        words = (found["id"], found["prefix"], found["status"], f"@{found['agent']['handle']}", found["label"])
        click.echo(clean(" ".join(words), lines=False))
    return None


@token.command()
@click.argument("token_id", metavar="ID")
@click.option("--reason")
@key_option
@click.pass_obj
def revoke(state: State, token_id: str, reason: str | None, key: str) -> None:
    """Revoke a token at once."""
    with _person(state) as client:
        revocation = client.revoke_agent_token(token_id, reason=reason, key=key)
    if state.is_json:
        echo_json(revocation)
    else:
        click.echo("Revoked." if revocation["revoked"] else "It was revoked before.")


@token.command()
@click.argument("token_id", metavar="ID")
@click.option("--ends", type=click.Choice(["now", "hour", "day", "week"]), help="When the former token ends.")
@click.option("--days", type=int, help="The new token is valid for 1 to 365 days; by default as the former one.")
@key_option
@click.pass_obj
def rotate(state: State, token_id: str, ends: str | None, days: int | None, key: str) -> None:
    """Create a token in the place of another one, which ends. The new one is shown once."""
    with _person(state) as client:
        rotated = client.rotate_agent_token(token_id, old_ends_in=ends, expires_in_days=days, key=key)
    _show_token(state, {**rotated})


@contextmanager
def _person(state: State) -> Iterator[Client]:
    require(state.caller(PERSON))
    with state.client(PERSON) as client:
        yield client


def _show_token(state: State, created: dict[str, Any]) -> None:
    if state.is_json:
        return echo_json(created)
    # The token alone is on stdout, so that it can be piped into a secret store.
    click.echo(clean(f"{created['prefix']}… is valid until {created['expiresAt']}.", lines=False), err=True)
    if "token" in created:
        click.echo(clean(created["token"], lines=False))
    return None


def _show_request(state: State, found: Any) -> None:
    if state.is_json:
        return echo_json(found)
    words = [found["id"], found["status"], f"@{found['agentHandle']}", found.get("reason") or ""]
    click.echo(clean(" ".join(words), lines=False))
    return None
