"""What an operation declares of itself, once, on its handler.

The gate of the agent-token middleware, the DRF permission, the OpenAPI document and the tests read this one
declaration. A handler that declares nothing accepts nobody; a write that declares no agent scope refuses every
agent token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.serializers import Serializer

from config.api.callers import Caller, CallerKind
from config.api.errors import (
    AgentRouteNotAllowed,
    ApiError,
    Forbidden,
    InvalidToken,
    NotAuthenticated,
    SuperAdminRequired,
)

ScopesNeeded = Callable[[Mapping[str, Any]], frozenset[str]]
Handler = TypeVar("Handler", bound=Callable[..., Any])
READ_METHODS = frozenset({"get", "head"})


@dataclass(frozen=True, slots=True)
class Operation:
    """One row of the contract's endpoint tables.

    `scopes` are the agent scopes it may need and, by the same names, the counters of the hourly ledger it may spend;
    `scopes_needed` tells which of them one body needs. `throttle` names a soft throttle per client address.
    `super_admin`: of the callers, super admins alone.
    """

    id: str
    callers: frozenset[CallerKind]
    scopes: frozenset[str]
    scopes_needed: ScopesNeeded
    body: type[Serializer[Any]] | None
    query: type[Serializer[Any]] | None
    answer: type[Serializer[Any]] | dict[str, Any] | None
    status: int
    errors: tuple[type[ApiError], ...]
    headers: tuple[str, ...]
    throttle: str | None
    super_admin: bool
    is_write: bool
    public_body: bool
    also: Mapping[Any, Any]
    links: Mapping[str, Mapping[str, str]]

    @property
    def accepts_agents(self) -> bool:
        """Public reads take an agent token as they take none; a write takes one only where it says so."""
        return CallerKind.AGENT in self.callers or (CallerKind.PUBLIC in self.callers and not self.is_write)

    @property
    def is_public_read(self) -> bool:
        """Whether everybody gets the same answer, which caches may keep and ask after."""
        return CallerKind.PUBLIC in self.callers and not self.is_write

    @property
    def ignores_people(self) -> bool:
        """Sign-in itself: whoever renews an expired token may have sent that very token along."""
        return CallerKind.PUBLIC in self.callers and not self.accepts_agents

    @property
    def any_origin(self) -> bool:
        """Whether web pages of any origin may call it: what needs no credential and gives none (no sign-in)."""
        return CallerKind.PUBLIC in self.callers and self.accepts_agents

    def admit(self, caller: Caller) -> None:
        """Refuse a caller whom this operation does not accept.

        Where the kind of credential is the reason: 401, or 403 for an agent. Else SuperAdminRequired (403).
        """
        if caller.kind is CallerKind.AGENT and not self.accepts_agents:
            raise AgentRouteNotAllowed
        if CallerKind.PUBLIC not in self.callers and caller.kind not in self.callers:
            if caller.kind is CallerKind.PUBLIC:
                raise NotAuthenticated
            raise InvalidToken(details="This kind of token is not accepted here.")
        if self.super_admin and not caller.is_super_admin:
            raise SuperAdminRequired


def operation(
    id: str,
    *,
    callers: Iterable[CallerKind],
    scopes: Iterable[str] = (),
    scopes_needed: ScopesNeeded | None = None,
    body: type[Serializer[Any]] | None = None,
    query: type[Serializer[Any]] | None = None,
    answer: type[Serializer[Any]] | dict[str, Any] | None = None,
    status: int = 200,
    errors: Iterable[type[ApiError]] = (),
    headers: Iterable[str] = (),
    throttle: str | None = None,
    super_admin: bool = False,
    public_body: bool = False,
    also: Mapping[Any, Any] | None = None,
    links: Mapping[str, Mapping[str, str]] | None = None,
) -> Callable[[Handler], Handler]:
    """Declare the handler of one operation.

    `answer` is the serializer class (or raw JSON schema) of the success body, `headers` the request headers it reads
    beyond the common ones, `public_body` takes JSON as `text/plain` too (sendBeacon), `also` documents further answers
    by status or by (status, media type); `links` names what can be done next with an answer, as {operation: {its
    parameter: field of this answer}}.
    """
    held = frozenset(scopes)

    def declare(handler: Handler) -> Handler:
        is_write = handler.__name__ not in READ_METHODS
        accepted = frozenset(callers)
        if is_write and CallerKind.AGENT in accepted and CallerKind.PUBLIC not in accepted and not held:
            raise TypeError(f"{id}: a write that accepts agents must declare their scopes")
        declared = Operation(
            id=id,
            callers=accepted,
            scopes=held,
            scopes_needed=scopes_needed or (lambda _data: held),
            body=body,
            query=query,
            answer=answer,
            status=status,
            errors=tuple(errors),
            headers=tuple(headers),
            throttle=throttle,
            super_admin=super_admin,
            is_write=is_write,
            public_body=public_body,
            also=also or {},
            links=links or {},
        )
        handler.operation = declared  # type: ignore[attr-defined]
        return handler

    return declare


def operation_of(view: Any, method: str) -> Operation | None:
    """The declaration behind a resolved view (function or class) and an HTTP method, None where there is none."""
    view_class = getattr(view, "cls", view)
    name = "get" if method.lower() == "head" else method.lower()
    return getattr(getattr(view_class, name, None), "operation", None)


def require_operation(view: Any, method: str) -> Operation:
    """The same, refusing everybody where a handler declares nothing: default deny is structural."""
    declared = operation_of(view, method)
    if declared is None:
        raise Forbidden
    return declared


def all_operations() -> Iterator[tuple[str, str, Operation]]:
    """(path pattern, HTTP method, operation) of every declared handler reachable from the URL configuration."""
    for path, view in _routes(get_resolver().url_patterns):
        view_class = getattr(view, "cls", None)
        for method in getattr(view_class, "http_method_names", ()):
            declared = operation_of(view_class, method) if method != "head" else None
            if declared is not None:
                yield path, method.upper(), declared


def _routes(patterns: Iterable[URLPattern | URLResolver], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, path)
        else:
            yield path, pattern.callback
