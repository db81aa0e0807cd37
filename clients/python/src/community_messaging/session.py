"""What both clients share: the address, who calls, and how a request becomes a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import httpx

from community_messaging.credentials import Credential
from community_messaging.errors import ServiceError, json_object
from community_messaging.requests import Request, Sender, from_nobody, post
from community_messaging.retries import RetryPolicy
from community_messaging.steps import Item, Open, Pause, Send, Steps

Record = TypeVar("Record", bound=Mapping[str, Any])
USER_AGENT = "community-messaging-client"
TIMEOUT_SECONDS = 30.0
# The service sends a comment every 15 seconds.
STREAM_TIMEOUT = httpx.Timeout(TIMEOUT_SECONDS, read=45.0)
PAGE_ID_PREFIX = "p1_"
NO_SIGN_IN = "This needs the sign-in of a person, with handle and password: a user or agent token alone is not enough."


class Session:
    """`credential` may be replaced at any time; sign-ins and renewals replace it too."""

    def __init__(
        self,
        base_url: str,
        credential: Credential | None,
        retry: RetryPolicy | None,
        build_request: Callable[..., httpx.Request],
    ) -> None:
        address = urlsplit(base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(f"not the address of a service: {base_url!r}")
        self.base_url = base_url.rstrip("/")
        self.credential = credential
        self.retry = retry or RetryPolicy()
        self._build_request = build_request

    def ask(self, record: type[Record], request: Request, **fields: type) -> Steps[Record]:
        """The JSON object that answers the request, typed as `record`. It has at least these fields."""
        try:
            response = yield from self.attempt(request)
            return cast("Record", json_object(response, fields))
        except ServiceError as error:
            error.key = request.key
            raise

    def list_all(self, items: str, request: Request) -> Steps[None]:
        """The items of a list, from page to page."""
        while True:
            page = yield from self.ask(dict, request, **{items: list}, hasMore=bool)
            for item in page[items]:
                yield Item(item)
            if not page["hasMore"]:
                return
            if not isinstance(cursor := page.get("nextCursor"), str):
                raise ServiceError.of_field("nextCursor")
            request = request.asking(cursor=cursor)

    def attempt(
        self, request: Request, step: Callable[[httpx.Request], Send | Open] = Send, *, origin: str = ""
    ) -> Steps[httpx.Response]:
        """The first success. Raises the ServiceError of the last attempt."""
        waited, may_renew = 0.0, True
        timeout = STREAM_TIMEOUT if step is Open else httpx.USE_CLIENT_DEFAULT
        for attempt in count(1):
            try:
                response: httpx.Response = yield step(self._built(request, origin, timeout))
                if response.is_success:
                    return response
                error = ServiceError.of_response(response)
            except httpx.RequestError as failure:
                error = ServiceError.of_failure(failure)
            if may_renew and (refresh_token := self._renewable(request, error)):
                may_renew = False
                yield from self.renew(refresh_token)
                continue
            pause = self.retry.pause(error, attempt=attempt, waited=waited) if request.is_repeatable else None
            if pause is None:
                raise error
            waited += pause
            yield Pause(pause)
        raise AssertionError("count() does not end")

    def renew(self, refresh_token: str) -> Steps[None]:
        """Get another user token with the refresh token of the sign-in."""
        access = yield from self.ask(
            dict, from_nobody(post("/api/auth/refresh", refresh_token=refresh_token)), accessToken=str
        )
        yield from self.take_sign_in(access["accessToken"], refresh_token)

    def take_sign_in(self, access_token: str, refresh_token: str) -> Steps[None]:
        """Call as the person who has signed in."""
        signed_in = {"Authorization": f"Bearer {access_token}"}
        request = from_nobody(post("/api/auth/embed-token"))
        request = replace(request, headers=request.headers | signed_in)
        issued = yield from self.ask(dict, request, token=str, userId=str)
        try:
            self.credential = Credential(issued["token"], issued["userId"], access_token, refresh_token)
        except ValueError as error:
            raise ServiceError.of_field("token") from error

    def page_id(self, page: str) -> Steps[str]:
        """The page id of a URL; a page id is returned as it is."""
        if page.startswith(PAGE_ID_PREFIX):
            return page
        normalized = yield from self.ask(dict, post("/v1/presence/normalize-url", url=page), pageId=str)
        return str(normalized["pageId"])

    def _renewable(self, request: Request, error: ServiceError) -> str:
        """The refresh token, if the token that has been sent is expired and can be replaced."""
        is_expired = error.code == "token_expired" and request.sender is not Sender.NOBODY
        return self.credential.refresh_token if self.credential and is_expired else ""

    def _built(self, request: Request, origin: str, timeout: Any) -> httpx.Request:
        """Raises ServiceError for values that JSON, a URL or a header cannot have: NaN, a lone surrogate, a cycle."""
        accepted = {"User-Agent": USER_AGENT, "Accept": "application/json"}
        headers = accepted | self._authorization(request.sender) | request.headers
        try:
            return self._build_request(
                request.method,
                (origin or self.base_url) + request.path,
                params=request.query or None,
                json=request.body,
                headers=headers,
                timeout=timeout,
            )
        except (ValueError, TypeError, RecursionError, httpx.InvalidURL) as error:
            raise ServiceError.of_input(f"Correct the arguments, they cannot be sent: {error}", "body") from error

    def _authorization(self, sender: Sender) -> dict[str, str]:
        if self.credential is None or sender is Sender.NOBODY:
            return {}
        if sender is Sender.CALLER:
            return self.credential.headers
        if not self.credential.access_token:
            raise ServiceError("not_authenticated", NO_SIGN_IN, status=401)
        return self.credential.sign_in_headers
