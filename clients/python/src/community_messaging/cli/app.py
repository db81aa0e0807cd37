"""The program: its global options, and who calls."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click
from platformdirs import user_config_path

from community_messaging.cli.failures import exit_code, report
from community_messaging.cli.output import clean, echo_json
from community_messaging.cli.store import AGENT, KINDS, PERSON, SERVICE, Store
from community_messaging.client import Client
from community_messaging.credentials import Credential
from community_messaging.errors import INVALID_RESPONSE, ServiceError
from community_messaging.retries import RetryPolicy

INTERRUPTED = "interrupted"
# Of one command: a longer Retry-After is the caller's to wait for.
RETRY = RetryPolicy(attempts=4, max_wait=10)


@dataclass
class State:
    """What the options of a command say. `only` is the kind of the credential to use."""

    url: str | None = None
    only: str | None = None
    is_json: bool = False
    store: Store = field(default_factory=lambda: Store(user_config_path(SERVICE, appauthor=False)))

    @property
    def base_url(self) -> str:
        url = self.url or self.store.address
        if not url:
            raise click.UsageError("Which service? Set CM_URL, or sign in with: cm --url ADDRESS login")
        try:
            url.encode()
        except UnicodeError:
            raise click.UsageError("The address of the service is not encoded in UTF-8.") from None
        return url.rstrip("/")

    @contextmanager
    def client(self, *kinds: str, credential: Credential | None = None) -> Iterator[Client]:
        """A client with the first credential of these kinds that there is. A renewed one is stored in its place."""
        # A sign-in to another service meanwhile does not change where this one is stored.
        url = self.base_url
        kind, credential = self._chosen(kinds) if credential is None else ("", credential)
        try:
            client = Client(url, credential, retry=RETRY)
        except ValueError as error:
            raise click.UsageError(str(error)) from error
        try:
            with client:
                yield client
        finally:
            if kind and credential and client.credential and client.credential != credential:
                with self.warning_if_not_stored("The renewed token"):
                    self.store.replace(url, kind, credential, client.credential)

    @contextmanager
    def warning_if_not_stored(self, what: str) -> Iterator[None]:
        """A failure to store a token is none of the command: the service has carried it out."""
        try:
            yield
        except OSError as error:
            warning = f"{what} is not stored: {error}"
            if self.is_json:
                echo_json({"warning": warning}, err=True)
            else:
                click.echo(clean(warning, lines=False), err=True)

    def caller(self, *kinds: str) -> Credential | None:
        """The credential that a client with these kinds has."""
        return self._chosen(kinds)[1]

    def _chosen(self, kinds: tuple[str, ...]) -> tuple[str, Credential | None]:
        if token := os.environ.get("CM_TOKEN", "").strip():
            return "", self._of_environment(token)
        for kind in kinds:
            if self.only in (None, kind) and (credential := self.store.get(self.base_url, kind)):
                return kind, credential
        return "", None

    def _of_environment(self, token: str) -> Credential:
        try:
            credential = Credential.of_text(token)
        except ValueError as error:
            raise click.UsageError(f"CM_TOKEN: {error}") from error
        kind = AGENT if credential.is_agent else PERSON
        if self.only not in (None, kind):
            raise click.UsageError(f"CM_TOKEN is the token of {kind!r}: unset it, or call without --as {self.only}.")
        return credential


class JsonCommand(click.Command):
    """A command that takes `--json` also after its name, and reports responses that it cannot read.

    One that is interrupted names the key with which to repeat its write.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.params.append(json_option())

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        # Arguments are parsed by now: these come from the fields of a response.
        except (LookupError, TypeError, AttributeError) as error:
            found = f"{type(error).__name__}: {error}"
            message = f"The response is not as expected ({found}): is this the base address of the service?"
            raise ServiceError(INVALID_RESPONSE, message) from error
        except KeyboardInterrupt:
            if key := ctx.params.get("key"):
                interruption = ServiceError(INTERRUPTED, "The command may have been carried out.")
                interruption.key = key
                report(interruption, is_json=ctx.ensure_object(State).is_json)
            raise


class Program(click.Group):
    command_class = JsonCommand

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ServiceError as error:
            report(error, is_json=ctx.ensure_object(State).is_json)
            ctx.exit(exit_code(error))


def require(credential: Credential | None) -> Credential:
    """Refuse a command that needs a credential before it calls the service."""
    if credential is None:
        raise ServiceError("not_authenticated", "Nobody is signed in.", status=401)
    return credential


def json_option() -> click.Option:
    return click.Option(["--json"], is_flag=True, expose_value=False, callback=_use_json, help="Print JSON.")


def _use_json(context: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(State).is_json = True


def _version() -> str:
    try:
        return version("community-messaging-client")
    except PackageNotFoundError:
        return "from its sources"


@click.group(cls=Program, params=[json_option()])
@click.option("--url", envvar="CM_URL", help="The address of the service (CM_URL); else that of the last sign-in.")
@click.option("--as", "only", type=click.Choice(KINDS), help="Call as the agent or as the person that is signed in.")
@click.version_option(_version())
@click.pass_context
def program(context: click.Context, url: str | None, only: str | None) -> None:
    """Read and write posts on any web page, as a person or as an agent.

    Exit codes: 0 done, 1 refused, 2 wrong usage, 3 not signed in, 4 limited for some seconds, 5 unreachable.
    The token comes from `cm login`, or from the environment (CM_TOKEN).
    """
    state = context.ensure_object(State)
    state.url, state.only = url, only
