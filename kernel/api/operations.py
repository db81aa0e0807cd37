"""The declaration of an operation, written once on its ViewSet action with `@operation`.

The middlewares, CORS, the OpenAPI document and the tests read this declaration. An action without one refuses every
request; a write that does not declare agents as its callers refuses every agent token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from typing import Any, TypeVar

from django.http import HttpRequest
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.serializers import Serializer

from kernel.api.bodies import BODY_MAX
from kernel.api.credentials import Credential, CredentialKind
from kernel.api.exceptions import AgentRouteNotAllowed, ApiError, InvalidToken, NotAuthenticated, SuperAdminRequired
from kernel.api.requests import JSON, Media

Body = Mapping[str, Any]
Action = TypeVar("Action", bound=Callable[..., Any])
# Characters of an Idempotency-Key.
IDEMPOTENCY_KEY_MAX = 160
# What a boolean of the query string may be, in any case.
BOOLEAN_TEXT = {"true": True, "1": True, "false": False, "0": False}
CREDENTIALS = {
    CredentialKind.AGENT: "an agent token",
    CredentialKind.PERSON: "a user token and X-User-Id",
    CredentialKind.SIGNED_IN: "a sign-in JWT",
}


def uncharged(_body: Body) -> frozenset[str]:
    """For `scopes_of_body`: the view checks the scopes itself, or none is needed, and no limit is charged."""
    return frozenset()


READS = ("get", "list", "search", "stream")


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the contract's endpoint tables, and the decorator that declares it on a ViewSet action."""

    id: str
    _: KW_ONLY
    # The accepted kinds of credential; `super_admin` restricts people to super admins.
    callers: Set[CredentialKind]
    super_admin: bool = False
    # Whether the panel of the widget calls it for a person: what its cookie opens for 30 days.
    for_panel: bool = False
    # The agent scopes that bodies may need (they also name the hourly limits to charge), and those that one body needs.
    scopes: Set[str] = frozenset()
    scopes_of_body: Callable[[Body], Set[str]] | None = None
    # Refuses a body that the credential may not send.
    authorize: Callable[[Credential, Body], None] | None = None
    # Refuses to replay a response to a client that has lost the right to it. It gets the context of the request
    # (`kernel.api.context.ApiContext`) and the response (`kernel.writes.idempotency.Replay`).
    authorize_replay: Callable[[Any, Any], None] | None = None
    # Whether each request runs the write and rolls it back: what checks a write without doing it.
    is_check: bool = False
    # Whether `?dryRun=true` does so too. No document says so: the check of the write is an operation of its own.
    has_dry_run: bool = False
    # A write without a credential whose services open their transactions themselves: it does something long before.
    is_atomic: bool = True
    # The name of a soft throttle per client network; reads from this machine are not counted.
    throttle: str | None = None
    # A gateway sends requests to other operations (`kernel.api.subrequests`), which check scopes, limits and keys. Its
    # view parses the body, in which it may name several operations; it neither is a write nor has scopes.
    is_gateway: bool = False

    # The JSON schemas of path parameters that are not UUIDs.
    path: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # The request: serializer classes, the body's bytes, JSON as `text/plain` too (sendBeacon), further headers.
    body: type[Serializer[Any]] | None = None
    query: type[Serializer[Any]] | None = None
    body_max: int = BODY_MAX
    public_body: bool = False
    # The body may be a form too, as OAuth has it: its parameters are strings, and empty ones are absent.
    is_form: bool = False
    headers: Sequence[str] = ()
    # The query (`kernel.writes.transaction.Prefetch`) that a write combines with its opening statement.
    prefetch: Callable[[Body], Any] | None = None

    # The response: the serializer class (or raw JSON schema) of success and its media type, the operation's refusals,
    # further responses by status or (status, media type), headers beside those that follow from the declaration, and
    # operations that can follow (`kernel.api.openapi.schema`). Refusals are always JSON.
    response: type[Serializer[Any]] | dict[str, Any] | None = None
    media: Media = JSON
    status: int = 200
    errors: Sequence[type[ApiError]] = ()
    also: Mapping[Any, Any] = field(default_factory=dict)
    response_headers: Sequence[str] = ()
    # The fields of the documented response that differ from the example of its schema.
    example: Mapping[str, Any] = field(default_factory=dict)
    links: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # The serializer of the events of a stream (`text/event-stream`), which `kernel.changes.streams` serves.
    event: type[Serializer[Any]] | None = None

    def __post_init__(self) -> None:
        needs_scopes = self.is_write and not self.any_origin and self.scopes_of_body is not uncharged
        if CredentialKind.AGENT in self.callers and needs_scopes and not self.scopes:
            raise TypeError(f"{self.id}: a write that accepts agents must declare their scopes")
        if not self.is_atomic and (self.is_check or self.has_dry_run or self.callers != {CredentialKind.PUBLIC}):
            raise TypeError(f"{self.id}: a write with a credential or a dry run runs in one transaction")

    def __call__(self, action: Action) -> Action:
        action.operation = self  # type: ignore[attr-defined]
        return action

    @property
    def is_write(self) -> bool:
        """The ids of reads begin with one of READS; a read may be a POST, because its query needs a body."""
        return not self.is_gateway and not self.id.startswith(READS)

    @property
    def takes_key(self) -> bool:
        """Whether it accepts an `Idempotency-Key`: writes without a credential ignore it."""
        return self.is_write and CredentialKind.PUBLIC not in self.callers

    @property
    def stores_response(self) -> bool:
        """Whether a repeated key returns the first response. Of the key of a check only the syntax is checked."""
        return self.takes_key and not self.is_check

    @property
    def has_body(self) -> bool:
        """Whether the body of a request is parsed."""
        return self.is_write or self.body is not None

    @property
    def accepts_agents(self) -> bool:
        """Public reads accept an agent token and ignore it; other operations must declare it."""
        return CredentialKind.AGENT in self.callers or self.is_public_read

    @property
    def is_public_read(self) -> bool:
        """Whether all clients get the same response."""
        return CredentialKind.PUBLIC in self.callers and not self.is_write and not self.is_gateway

    @property
    def revalidates(self) -> bool:
        """Whether caches may store the response and revalidate it."""
        return self.is_public_read and self.body is None and self.event is None

    @property
    def ignores_people(self) -> bool:
        """Whether JWTs are ignored, as at sign-in: a client that renews an expired token may send that token."""
        return CredentialKind.PUBLIC in self.callers and not self.accepts_agents

    @property
    def any_origin(self) -> bool:
        """Whether web pages of any origin may call it: it needs no credential and returns none."""
        return CredentialKind.PUBLIC in self.callers and self.accepts_agents and not self.is_gateway

    def is_dry_run(self, request: HttpRequest) -> bool:
        """Whether the request checks a write without doing it. `refuse_unknown_dry_run` refuses other values."""
        if self.is_check:
            return True
        sent = request.GET.getlist("dryRun") if self.has_dry_run else []
        return len(sent) == 1 and BOOLEAN_TEXT.get(sent[0].lower(), False)

    @property
    def is_charged(self) -> bool:
        """Whether a success is charged to the hourly limits of an agent."""
        return bool(self.scopes) and self.scopes_of_body is not uncharged

    def required_scopes(self, body: Body) -> list[str]:
        """The agent scopes that a body needs, sorted."""
        return sorted(self.scopes_of_body(body) if self.scopes_of_body else self.scopes)

    @property
    def _accepted(self) -> str:
        """The credentials that it accepts, for a message."""
        return " or ".join(CREDENTIALS[kind] for kind in CredentialKind if kind in self.callers)

    def admit(self, credential: Credential) -> None:
        """Refuse a credential that this operation does not accept.

        Raises a 401, AgentRouteNotAllowed (403) for agents, SuperAdminRequired (403) for other people.
        """
        if credential.is_agent and not self.accepts_agents:
            raise AgentRouteNotAllowed
        if CredentialKind.PUBLIC not in self.callers and credential.kind not in self.callers:
            if credential.kind is CredentialKind.PUBLIC:
                raise NotAuthenticated(
                    f"Send Authorization: Bearer with {self._accepted}; /llms.txt tells how to get one."
                )
            raise InvalidToken(f"Send {self._accepted}: this operation does not accept your kind of token.")
        if credential.is_of_panel and not self.for_panel and CredentialKind.PUBLIC not in self.callers:
            raise InvalidToken(f"Send {self._accepted} of a sign-in: this one is for what the panel does.")
        if self.super_admin and not credential.is_super_admin:
            raise SuperAdminRequired


operation = Operation


def operation_of(view: Any, method: str) -> Operation | None:
    """The declaration for a resolved view function and an HTTP method, or None."""
    actions = getattr(view, "actions", None)
    if not actions:
        return None
    name = method.lower()
    action = actions.get("get" if name == "head" else name)
    return getattr(getattr(view.cls, action or "", None), "operation", None)


def all_operations() -> Iterator[tuple[str, str, Operation]]:
    """(path pattern, HTTP method, operation) of every declared action in the URL configuration."""
    for path, view in _routes(get_resolver().url_patterns):
        for method in tuple(getattr(view, "actions", None) or ()):
            declared = operation_of(view, method) if method != "head" else None
            if declared is not None:
                yield path, method.upper(), declared


def query_names(path: str) -> Set[str] | None:
    """The names of the query parameters of the reads at paths of this shape; None if there is no such read."""
    return _query_names().get(_shape(path))


@cache
def _query_names() -> dict[tuple[str, ...], Set[str]]:
    names: dict[tuple[str, ...], Set[str]] = {}
    for path, method, declared in all_operations():
        if method == "GET":
            shape = _shape(f"/{path}")
            names[shape] = names.get(shape, frozenset()) | frozenset(declared.query().fields if declared.query else ())
    return names


def _shape(path: str) -> tuple[str, ...]:
    """The first two parts of a path, which no parameter has, and the number of its parts."""
    parts = path.split("/")
    return *parts[1:3], str(len(parts))


def _routes(patterns: Iterable[URLPattern | URLResolver], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, path)
        else:
            yield path, pattern.callback
