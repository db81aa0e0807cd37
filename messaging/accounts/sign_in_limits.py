"""How often passwords and codes are tried: one rule for every way to sign in.

Each try counts twice, exactly and in a sliding window: 10 a minute of one client address, and 100 wrong ones an hour
with one handle or mail address. Strangers cannot use up the tries of a browser or network that has signed in to the
account before, and neither those of an open session: these have the same two limits, of their own. Unknown names are
counted like known ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.dispatch import Signal

from kernel.api.exceptions import RateLimited
from kernel.writes.attempts import Counter, count, forget
from messaging.accounts.exceptions import SignInClosed
from messaging.accounts.visitors import Visitor
from messaging.models import Account, SignIn

ADDRESS, NAME, CODE, MAIL = "sign_in", "sign_in_account", "second_factor", "password_reset"
NOBODY = UUID(int=0)
# A try was refused that strangers may have caused. Sent with `account`, None for an unknown name, and `login`.
closed = Signal()


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose tries count together: `minute` for the limit of an address, `hour` for the one of a name."""

    minute: str
    hour: str
    # Whether only the person, or a thief of a session or browser, can have used it up.
    is_own: bool = False


def count_password(*, account: Account | None, login: str, visitor: Visitor) -> list[int]:
    """Count a try before the password is checked; returns what to `forget` if it is right. Raises RateLimited (429)."""
    scope = _scope(account, login, visitor)
    try:
        counted = count(Counter(ADDRESS, scope.minute), Counter(NAME, scope.hour))
    except RateLimited as refusal:
        if refusal.fields["counter"] == NAME and not scope.is_own:
            closed.send(sender=None, account=account, login=login)
            retry_after, limit = refusal.fields["retryAfter"], refusal.fields["limit"]
            raise SignInClosed(retry_after=retry_after, counter=NAME, limit=limit) from None
        raise
    return [counted[NAME]]


def count_code(*, account: Account, visitor: Visitor) -> None:
    """Count a code of a second factor. Raises RateLimited (429)."""
    count(Counter(CODE, _scope(account, str(account.pk), visitor).hour))


def count_passkey(*, visitor: Visitor) -> None:
    """Count a passkey, which names nobody before it is accepted. Raises RateLimited (429)."""
    count(Counter(ADDRESS, f"address {visitor.address}"))


def count_mail(*, address: str, visitor: Visitor) -> None:
    """Count a request for a mail to this address. Raises RateLimited (429)."""
    sender = f"address {visitor.address}" if visitor.session_of is None else f"session {visitor.session_of}"
    count(Counter(ADDRESS, sender), Counter(MAIL, address.casefold()))


def _scope(account: Account | None, login: str, visitor: Visitor) -> Scope:
    account_id = NOBODY if account is None else account.pk
    # Also for nobody, so that an unknown name takes as long.
    is_known_network = _has_signed_in(account_id, visitor.network)
    if visitor.session_of == account_id:
        return Scope(f"session {account_id}", f"session {account_id}", is_own=True)
    browser = visitor.browser_of(account)
    if browser is not None:
        # A person cannot multiply the tries of a minute by signing in with many browsers.
        return Scope(f"browsers {account_id}", f"browser {browser}", is_own=True)
    if is_known_network:
        return Scope(f"network {account_id} {visitor.network}", f"network {account_id} {visitor.network}")
    return Scope(f"address {visitor.address}", f"name {login}")


def _has_signed_in(account_id: UUID, network: str) -> bool:
    return bool(network) and SignIn.objects.filter(account_id=account_id, network=network, refused=False).exists()


__all__ = ["closed", "count_code", "count_mail", "count_passkey", "count_password", "forget"]
