"""Sign in as a person, and say who calls."""

from __future__ import annotations

from typing import Any

from community_messaging.declarations import call
from community_messaging.records import Account, AgentSelf
from community_messaging.requests import from_nobody, get, post, with_sign_in
from community_messaging.session import Session
from community_messaging.steps import Steps

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
