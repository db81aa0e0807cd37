from __future__ import annotations

from allauth.account.apps import AccountConfig


class AllauthAccountConfig(AccountConfig):
    """Without the requirement of `AccountMiddleware` on every path: ours runs it under `/account/` alone."""

    default = False

    def ready(self) -> None:
        from allauth.account import checks  # noqa: F401
