"""The base of every API view: the order of checks, and one transaction around each write.

Order on a write: credential (401), operation accepts this caller (403), JSON (400/413/415), agent scope (403), a right
that depends on the body (403), Idempotency-Key syntax (400), the replay of an answer that was kept before the call came
in, then the transaction: key lock (409), the replay of one that was kept meanwhile, and what the handler checks and
writes. The answer is rendered inside the transaction and stored with it. Any refusal rolls all of it back, since it
travels as an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from http import HTTPStatus
from threading import get_ident
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.utils.http import parse_etags
from rest_framework.authentication import BaseAuthentication
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from config.api import throttles
from config.api.addresses import client_network
from config.api.callers import ANYONE, Caller, CallerKind
from config.api.cursors import Page
from config.api.errors import AgentScopeMissing, ApiError, MethodNotAllowed, NotFound
from config.api.idempotency import KeyedWrite, Replay
from config.api.ids import parse_id
from config.api.limits import Budget, rate_limit_headers
from config.api.operations import Operation, operation_of, require_operation
from config.api.parsers import ByContentType, PlainTextJSONParser, StrictJSONParser
from config.api.responses import JSON_TYPE, Response
from config.api.retries import retried
from config.api.unit import Question, Unit, unit_of_work
from config.cache.loaders import Loader
from config.cache.rendering import etag_of

REVALIDATE = "public, no-cache"


class ApiRequest(Request):
    """DRF's request, with who calls and what the call may spend."""

    budget: Budget
    unit: Unit

    def __init__(self, request: HttpRequest, **parts: Any) -> None:
        super().__init__(request, **parts)
        # DRF finds what it has not itself by way of an exception each time; these are asked for often.
        self.method, self.path, self.META = request.method, request.path, request.META

    @cached_property
    def caller(self) -> Caller:
        # Not by way of DRF's `user`, which looks for what is not there yet by exceptions.
        for authenticator in self.authenticators or ():
            found = authenticator.authenticate(self)
            if found is not None and isinstance(found[1], Caller):
                return found[1]
        return ANYONE


class ApiView(APIView):
    """Subclasses declare handlers with `@operation` and translate; services decide."""

    http_method_names = ["get", "post", "put", "delete", "head"]
    content_negotiation_class = ByContentType
    request: ApiRequest

    @cached_property
    def operation(self) -> Operation:
        return require_operation(type(self), self.request.method or "")

    @cached_property
    def handler(self) -> Callable[..., HttpResponse]:
        """The method of this view that answers this request; raises MethodNotAllowed (405)."""
        name = (self.request.method or "").lower()
        handler: Callable[..., HttpResponse] | None = getattr(self, name, None)
        if name not in self.http_method_names or handler is None:
            raise MethodNotAllowed(allowed=self.allowed_methods)
        return handler

    def get_authenticators(self) -> list[BaseAuthentication]:
        declared = operation_of(type(self), getattr(self.request, "method", None) or "")
        return [] if declared is not None and declared.ignores_people else super().get_authenticators()

    def get_parsers(self) -> list[BaseParser]:
        plain = [PlainTextJSONParser()] if self._declares_public_body() else []
        return [StrictJSONParser(), *plain]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """DRF's dispatch, with the handler of a write run as one unit and every answer in JSON from the start."""
        self.args, self.kwargs = args, kwargs
        self.request = self.initialize_request(request, *args, **kwargs)
        try:
            self.initial(self.request, *args, **kwargs)
            return self.write() if self.operation.is_write else self.handle()
        except Exception as failure:  # noqa: BLE001  the handler tells refusals from defects
            refusal = self.handle_exception(failure)
            self._note_refusal(refusal.status_code)
            return refusal

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> ApiRequest:
        return ApiRequest(
            request,
            parsers=self.get_parsers(),
            authenticators=self.get_authenticators(),
            negotiator=self.get_content_negotiator(),
        )

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Everything that can be refused before a transaction opens."""
        _known = self.handler
        self.check_permissions(request)
        self._throttle()
        if self.operation.is_write:
            self.request.budget = self._budget()
            self.check_rights()

    def check_rights(self) -> None:
        """Refuse a write for which the caller lacks a right that depends on the body. Views override it."""

    def check_replay(self, replay: Replay) -> None:
        """Refuse a replay to a caller who has lost a right that only the handler checks. Views override it."""

    def handle(self) -> HttpResponse:
        response = self.handler(self.request, *self.args, **self.kwargs)
        return response if self.operation.is_write else self._revalidated(response)

    def write(self) -> HttpResponse:
        """One unit of work, run again where PostgreSQL breaks it off."""
        keyed = self._keyed_write()
        replay = self._replay_at_once(keyed)
        if replay is not None:
            return self._replayed(replay)
        return self._unit(keyed)

    def body(self, serializer: type[Serializer[Any]]) -> dict[str, Any]:
        """The validated body, in snake_case; raises a 400 or 413."""
        return _validated(serializer, self.request.data)

    @property
    def sent(self) -> Mapping[str, Any]:
        """The body as it was sent, unchecked; empty where it is no object."""
        data = self.request.data
        return data if isinstance(data, dict) else {}

    def query(self, serializer: type[Serializer[Any]]) -> dict[str, Any]:
        """The validated query string, in snake_case; raises a 400."""
        return _validated(serializer, self.request.query_params)

    def question(self) -> Question | None:
        """What a write asks in any case, and may ask along with the opening of its unit of work. Refuses nothing."""
        return None

    def read(self, load: Callable[[], Any], *tags: str, headers: Mapping[str, str] | None = None) -> Response:
        """Respond with the data that `load` returns, and declare the cache tags that it depends on.

        `config.cache` caches the response until a tag is invalidated, and then refreshes it by `load`.
        """
        loader = Loader(tags, load)
        snapshot = loader.snapshot()
        response = Response(load(), headers=headers)
        if "HTTP_AUTHORIZATION" not in self.request.META:
            response.cache_snapshot, response.loader = snapshot, loader
        return response

    def page(self, name: str, query: Mapping[str, Any], **bound: Any) -> Page:
        """The stretch of the list `name` that a validated ListQuery asks for."""
        return Page.of(name, query, **bound)

    def path_id(self, missing: type[ApiError] = NotFound, name: str = "id") -> UUID:
        return parse_id(self.kwargs[name], missing=missing)

    def _revalidated(self, response: HttpResponse) -> HttpResponse:
        """A public read carries a strong ETag, and is 304 to whoever has it already; caches must ask each time."""
        if not self.operation.is_public_read or response.status_code != HTTPStatus.OK:
            return response
        response.headers["ETag"] = etag = etag_of(response.content)
        response.headers.setdefault("Cache-Control", REVALIDATE)
        # No other condition counts, as in config.cache: a read has nothing to lose by being made.
        had = {tag.removeprefix("W/") for tag in parse_etags(self.request.META.get("HTTP_IF_NONE_MATCH", ""))}
        return response if had.isdisjoint({etag, "*"}) else HttpResponseNotModified(headers=response.headers)

    @retried
    def _unit(self, keyed: KeyedWrite | None) -> HttpResponse:
        with unit_of_work(budget=self.request.budget, keyed=keyed, question=self.question()) as unit:
            self.request.unit = unit
            replay = unit.open()
            if replay is not None:
                return self._replayed(replay)
            response = self.handle()
            self._tell_limits(response)
            unit.keep(response)
        return response

    def _replay_at_once(self, keyed: KeyedWrite | None) -> Replay | None:
        """Of an answer that was kept before this call came in: it stays as it is, so nothing needs to be locked."""
        kept = self.request.caller.kept
        replay = keyed.replay_of(kept) if keyed is not None and kept is not None else None
        if replay is not None:
            self.request.budget.look()
        return replay

    def _replayed(self, replay: Replay) -> HttpResponse:
        self.check_replay(replay)
        response = HttpResponse(replay.body, status=replay.status, content_type=JSON_TYPE)
        response.headers["Idempotent-Replayed"] = "true"
        if replay.location:
            response.headers["Location"] = replay.location
        if replay.mismatch:
            response.headers["Idempotency-Payload-Mismatch"] = "true"
        self._tell_limits(response)
        return response

    def _tell_limits(self, response: HttpResponse) -> None:
        for name, value in rate_limit_headers(self.request.budget.usages).items():
            response.headers[name] = value

    def _keyed_write(self) -> KeyedWrite | None:
        account = self.request.caller.account
        if account is None:
            return None
        return KeyedWrite.of(account_id=account.pk, request=self.request._request, data=self.request.data)

    def _budget(self) -> Budget:
        caller = self.request.caller
        if caller.kind is not CallerKind.AGENT or not self.operation.scopes:
            return Budget()
        needed = sorted(self.operation.scopes_needed(self.sent))
        for scope in needed:
            if scope not in caller.scopes:
                raise AgentScopeMissing(scope)
        return Budget(account_id=caller.account.pk, counters=tuple(needed))

    def _throttle(self) -> None:
        caller = self.request.caller
        if not self.operation.is_write:
            throttles.hit_read(self.request._request)
        if self.operation.throttle is not None:
            throttles.hit(self.operation.throttle, client_network(self.request._request))
        if caller.kind is CallerKind.AGENT:
            throttles.check("agent_refused", str(caller.token["id"]))
        elif caller.account is not None and self.operation.is_write:
            throttles.hit("person", str(caller.account.pk))

    def _note_refusal(self, status: int) -> None:
        caller: Caller | None = getattr(self.request._request, "caller", None)
        if caller is not None and 400 <= status < 500:
            throttles.note("agent_refused", str(caller.token["id"]))

    def _declares_public_body(self) -> bool:
        declared = getattr(getattr(self, "post", None), "operation", None)
        return declared is not None and declared.public_body


def _validated(serializer: type[Serializer[Any]], data: Any) -> dict[str, Any]:
    return dict(_instance_of(serializer, get_ident()).run_validation(data))


@cache
def _instance_of(serializer: type[Serializer[Any]], _thread: int) -> Serializer[Any]:
    """One for each thread: making one copies all its fields, and a list's field knows the index at work."""
    return serializer()
