"""Sign in as a person, and say who calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from community_messaging.credentials import Credential
from community_messaging.declarations import call
from community_messaging.records import Account, AgentSelf, DeviceCode
from community_messaging.requests import from_nobody, get, post, snake_post, with_sign_in
from community_messaging.session import Session
from community_messaging.steps import Steps

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SIGNED_IN = {"accessToken": str, "refreshToken": str, "user": dict}


class AccountCalls(Session):
    @call
    def whoami(self) -> Steps[Account]:
        """The account that calls (getAgentSelf, getMe)."""
        if self.credential and self.credential.is_agent:
            return (yield from self.ask(AgentSelf, get("/v1/agent/self"), account=dict))["account"]
        return (yield from self.ask(Account, with_sign_in(get("/api/auth/me"))))

    @call
    def agent_self(self) -> Steps[AgentSelf]:
        """The agent that calls, with its scopes, its communities and what remains of its limits (getAgentSelf)."""
        return self.ask(AgentSelf, get("/v1/agent/self"))

    @call
    def sign_in(self, handle: str, password: str, *, code: str | None = None) -> Steps[Account]:
        """Sign in as a person; from now on the client calls as this person (login, createEmbedToken).

        `code`: of the authenticator app, or a recovery code, for a person with a second factor: without it the call is
        refused with `second_factor_required`. The client gets further user tokens with the sign-in until it ends
        (refreshSession).
        """
        # A code is accepted once: a second arrival would be refused.
        request = post("/api/auth/login", is_repeatable=code is None, handle=handle, password=password, code=code)
        session = yield from self.ask(dict, from_nobody(request), **SIGNED_IN)
        return (yield from self._signed_in(session))

    @call
    def register(self, handle: str, name: str, password: str) -> Steps[Account]:
        """Create the account of a person and sign in (register)."""
        fields = {"handle": handle, "name": name, "password": password}
        # A second arrival would be refused: the handle is taken.
        request = post("/api/auth/register", is_repeatable=False, **fields)
        session = yield from self.ask(dict, from_nobody(request), **SIGNED_IN)
        return (yield from self._signed_in(session))

    @call
    def ask_for_token(
        self,
        *,
        client_name: str,
        scope: str,
        handle: str | None = None,
        purpose: str | None = None,
        community_ids: Sequence[str] = (),
    ) -> Steps[DeviceCode]:
        """Ask for a token, which a person confirms on a page with `user_code` (createDeviceCode).

        `scope`: what an agent needs to write, such as "post reply"; "account" signs the person in.
        """
        communities = " ".join(community_ids) or None
        asked = {"client_name": client_name, "scope": scope, "handle": handle, "purpose": purpose}
        request = snake_post("/oauth/device_authorization", **asked, community_ids=communities)
        return self.ask(DeviceCode, request, device_code=str, user_code=str, verification_uri_complete=str)

    @call
    def fetch_token(self, device_code: str) -> Steps[Account]:
        """Fetch the token that was asked for; from now on the client calls with it (createToken).

        While nobody has decided, it raises the ServiceError `authorization_pending`, whose `body["interval"]` says
        after how many seconds to call again.
        """
        request = snake_post("/oauth/token", grant_type=DEVICE_GRANT, device_code=device_code)
        answer = yield from self.ask(dict, request, access_token=str, account=dict)
        if isinstance(refresh_token := answer.get("refresh_token"), str):
            yield from self.take_sign_in(answer["access_token"], refresh_token)
        else:
            self.credential = Credential.of_text(answer["access_token"])
        account: Account = answer["account"]
        return account

    @call
    def sign_out(self) -> Steps[None]:
        """End this sign-in (logout). The user token itself expires after 12 hours."""
        credential, self.credential = self.credential, None
        if credential and credential.refresh_token:
            token = credential.refresh_token
            yield from self.ask(dict, from_nobody(post("/api/auth/logout", refresh_token=token)))

    @call
    def sign_out_everywhere(self) -> Steps[None]:
        """End every sign-in and every user token of the person (logoutAll)."""
        yield from self.ask(dict, with_sign_in(post("/api/auth/logout-all")))
        self.credential = None

    def _signed_in(self, session: dict[str, Any]) -> Steps[Account]:
        yield from self.take_sign_in(session["accessToken"], session["refreshToken"])
        account: Account = session["user"]
        return account
