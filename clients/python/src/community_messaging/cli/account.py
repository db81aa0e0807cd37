"""Commands about who calls: login, logout, whoami; and the completion of the shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from community_messaging import Client, ServiceError
from community_messaging.cli.app import State, program, require
from community_messaging.cli.arguments import secret
from community_messaging.cli.output import clean, echo_json
from community_messaging.cli.store import AGENT, KINDS, PERSON, SERVICE
from community_messaging.credentials import Credential
from community_messaging.records import Account

SHELLS = ("bash", "zsh", "fish")
NOT_DELETED = "sign_in_not_deleted"
NOT_DELETED_MESSAGE = (
    f"The sign-in is still on this machine: delete {SERVICE!r} in the keyring or the folder for configuration yourself."
)


@program.command()
@click.option("--handle", help="Sign in as this person, with a password.")
@click.option("--register", is_flag=True, help="Create the account of this person first.")
@click.option("--name", help="The name of the new account; by default its handle.")
@click.pass_obj
def login(state: State, handle: str | None, name: str | None, *, register: bool) -> None:
    """Sign in: as an agent with its token, or as a person with --handle.

    The token or the password is prompted for, or read from standard input.
    """
    if register and not handle:
        raise click.UsageError("--register needs --handle")
    if handle:
        password = secret("Password", confirm=register)
        with state.client() as client:
            client.credential = None
            if register:
                account = client.register(handle, name or handle, password)
            else:
                account = _signed_in(client, handle, password)
            _store(state, PERSON, client.credential)
    else:
        with state.client(credential=_agent_credential(secret("Agent token"))) as client:
            account = client.whoami()
            _store(state, AGENT, client.credential)
    if state.is_json:
        echo_json(account)
    else:
        click.echo(clean(f"Signed in as @{account['handle']} ({account['kind']}) at {state.base_url}.", lines=False))


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
        raise click.UsageError("That is no agent token. Sign in as a person with: cm login --handle HANDLE")
    return credential


def _store(state: State, kind: str, credential: Credential | None) -> None:
    if credential:
        state.store.put(state.base_url, kind, credential)
        state.store.address = state.base_url


def _show(handle: str, kind: str, name: str) -> None:
    click.echo(clean(f"@{handle} ({kind}) {name}", lines=False))
