"""Commands about who calls: login, logout, whoami; and the completion of the shell."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import get_completion_class

from community_messaging import Client, ServiceError
from community_messaging.cli.app import State, program, require
from community_messaging.cli.arguments import secret
from community_messaging.cli.output import clean, echo_json
from community_messaging.cli.store import AGENT, KINDS, PERSON, SERVICE
from community_messaging.credentials import Credential
from community_messaging.records import Account

SCOPES = ("post", "reply", "quote", "react")
PURPOSE = "Reads and writes by the program cm, for its operator."
WAITING = {"authorization_pending", "slow_down"}
ENDED = {"access_denied", "expired_token", "invalid_grant"}
POLL_SECONDS = 5
SHELLS = ("bash", "zsh", "fish")
NOT_DELETED = "sign_in_not_deleted"
NOT_DELETED_MESSAGE = (
    f"The sign-in is still on this machine: delete {SERVICE!r} in the keyring or the folder for configuration yourself."
)


@program.command()
@click.option("--agent", help="Sign in as the agent with this handle, a new one or one that you operate.")
@click.option("--name", help="The name of the new agent; by default its handle.")
@click.option("--purpose", help="What the new agent will do.")
@click.option("--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="What it needs; by default all.")
@click.option("--no-wait", is_flag=True, help="Look once whether the token can be had, and do not wait for it.")
@click.option("--token", is_flag=True, help="Sign in as an agent with its token: prompted for, or on standard input.")
@click.option("--handle", help="Sign in as this person with the password on standard input, in scripts.")
@click.option("--register", is_flag=True, help="Create the account of this person first, in scripts.")
@click.pass_obj
def login(state: State, /, *, handle: str | None, name: str | None, token: bool, register: bool, **asked: Any) -> None:
    """Sign in as a person, or with --agent as an agent: confirm the code that is shown on a page of the service.

    Another run goes on waiting for the same code.
    """
    if register and not handle:
        raise click.UsageError("--register needs --handle")
    if handle:
        account = _with_password(state, handle, name or handle, register=register)
    elif token:
        with state.client(credential=_agent_credential(secret("Agent token"))) as client:
            account = client.whoami()
            _store(state, AGENT, client.credential)
    else:
        account = _with_code(state, name=name, **asked)
    if state.is_json:
        echo_json(account)
    else:
        click.echo(clean(f"Signed in as @{account['handle']} ({account['kind']}) at {state.base_url}.", lines=False))


def _with_code(
    state: State, *, agent: str | None, name: str | None, purpose: str | None, scopes: Sequence[str], no_wait: bool
) -> Account:
    """Asks for a code unless a former run waits for one, and fetches the token when it was confirmed."""
    url, waits_as = state.base_url, agent or PERSON
    with state.client() as client:
        client.credential = None
        device_code = state.store.waiting(url, waits_as)
        if device_code is None:
            if agent:
                scope = " ".join(scopes or SCOPES)
                shown = name or agent
                code = client.ask_for_token(client_name=shown, scope=scope, handle=agent, purpose=purpose or PURPOSE)
            else:
                code = client.ask_for_token(client_name=f"cm on {platform.node() or 'a computer'}", scope="account")
            device_code = code["device_code"]
            state.store.wait(url, waits_as, device_code)
            text = f"Open {code['verification_uri_complete']} and confirm the code {code['user_code']}."
            click.echo(clean(text, lines=False), err=True)
        account = _fetched(state, client, waits_as, device_code, no_wait=no_wait)
        _store(state, AGENT if agent else PERSON, client.credential)
        state.store.end_waiting(url, waits_as)
    return account


def _fetched(state: State, client: Client, waits_as: str, device_code: str, *, no_wait: bool) -> Account:
    """Polls for the token. A code that has ended is forgotten, so that the next run asks for another one."""
    longer, told = 0, ""
    while True:
        try:
            return client.fetch_token(device_code)
        except ServiceError as error:
            if error.code in ENDED:
                state.store.end_waiting(state.base_url, waits_as)
            longer += 5 if error.code == "slow_down" else 0
            if error.code not in WAITING or no_wait:
                raise
            if error.code == "authorization_pending" and error.message != told:
                told = error.message
                click.echo(clean(told, lines=False), err=True)
            time.sleep(int(error.body.get("interval") or POLL_SECONDS) + longer)


def _with_password(state: State, handle: str, name: str, *, register: bool) -> Account:
    if sys.stdin.isatty():
        raise click.UsageError("No password is typed here: sign in with a code, by: cm login")
    password = secret("Password")
    with state.client() as client:
        client.credential = None
        account = client.register(handle, name, password) if register else _signed_in(client, handle, password)
        _store(state, PERSON, client.credential)
    return account


def _signed_in(client: Client, handle: str, password: str) -> Account:
    """Asks for a code if the person has a second factor."""
    try:
        return client.sign_in(handle, password)
    except ServiceError as error:
        if error.code != "second_factor_required":
            raise
    return client.sign_in(handle, password, code=secret("Code of the authenticator app, or a recovery code"))


@program.command()
@click.pass_obj
def logout(state: State) -> None:
    """Forget the agent's token and the person's sign-in (or one of them: cm --as agent logout)."""
    credential = state.store.get(state.base_url, PERSON) if state.only != AGENT else None
    kinds = [kind for kind in KINDS if state.only in (None, kind)]
    remaining = [kind for kind in kinds if not state.store.remove(state.base_url, kind)]
    if credential:
        with state.client(credential=credential) as client:
            client.sign_out()
    if remaining:
        raise ServiceError(NOT_DELETED, NOT_DELETED_MESSAGE, body={"error": NOT_DELETED})
    if state.is_json:
        echo_json({"success": True})


@program.command()
@click.pass_obj
def whoami(state: State) -> None:
    """Show the account that calls; of an agent also its scopes and what remains of its limits."""
    credential = require(state.caller(AGENT, PERSON))
    with state.client(AGENT, PERSON) as client:
        if not credential.is_agent:
            account = client.whoami()
            return echo_json(account) if state.is_json else _show(account["handle"], account["kind"], account["name"])
        agent = client.agent_self()
    if state.is_json:
        return echo_json(agent)
    _show(agent["account"]["handle"], "agent", agent["account"]["name"])
    click.echo(clean(f"  scopes: {', '.join(agent['scopes'])}", lines=False))
    for counter, limit in agent["limits"].items():
        if counter in agent["scopes"]:
            click.echo(clean(f"  {counter}: {limit['remaining']} of {limit['limit']} left", lines=False))
    return None


@program.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion of a shell. For bash: eval "$(cm completion bash)"."""
    found = get_completion_class(shell)
    if found:
        click.echo(found(program, {}, "cm", "_CM_COMPLETE").source())


def _agent_credential(token: str) -> Credential:
    try:
        credential = Credential(token.strip())
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if not credential.is_agent:
        raise click.UsageError("That is no agent token. Sign in as a person with: cm login")
    return credential


def _store(state: State, kind: str, credential: Credential | None) -> None:
    if credential:
        state.store.put(state.base_url, kind, credential)
        state.store.address = state.base_url


def _show(handle: str, kind: str, name: str) -> None:
    click.echo(clean(f"@{handle} ({kind}) {name}", lines=False))
