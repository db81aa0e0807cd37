"""Why the widget shows on a page or not: the decision of the loader, with the rule that made it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from ada_url import URL

from embeds import domains, path_patterns
from embeds.models import Embed, EmbedStatus, PageRuleType

ADDRESS_MAX = 2_048


class Reason(StrEnum):
    DISABLED = "disabled"
    PAUSED = "paused"
    BLACKLISTED = "blacklisted"
    NOT_WHITELISTED = "not_whitelisted"
    NO_PATTERN = "no_pattern"
    EXCLUDED = "excluded"
    ALL_PAGES = "all_pages"
    MATCHES = "matches"
    NOT_EXCLUDED = "not_excluded"


class PageVerdict(NamedTuple):
    """`rule` is the domain entry or the pattern that decides, `number` the place of the pattern, from 1."""

    is_shown: bool
    reason: Reason
    host: str
    path: str
    rule: str | None = None
    number: int | None = None


class NoAddress(ValueError):
    """Not the address of a web page."""


def check_page(embed: Embed, address: str) -> PageVerdict:
    """Decide in the order of the loader: status, domains, page rules. Raises NoAddress."""
    host, path = parts_of(address)
    if embed.status != EmbedStatus.ACTIVE:
        return PageVerdict(False, Reason(embed.status), host, path)
    reason, entry = refusal_of(embed, host)
    if reason is not None:
        return PageVerdict(False, reason, host, path, entry)
    page = path_patterns.explain(embed.page_rules, path)
    return PageVerdict(page.is_shown, _reason(embed, page), host, path, page.pattern, page.number)


def refusal_of(embed: Embed, host: str) -> tuple[Reason | None, str | None]:
    """Why the domain lists refuse a host, and the entry that does; (None, None): they allow it."""
    verdict = domains.explain(host, whitelist=embed.domain_whitelist, blacklist=embed.domain_blacklist)
    if verdict.is_allowed:
        return None, None
    return (Reason.BLACKLISTED if verdict.entry else Reason.NOT_WHITELISTED), verdict.entry


def parts_of(address: str) -> tuple[str, str]:
    """Return the host and the path of an http(s) address, as browsers parse it. Raises NoAddress."""
    if len(address) > ADDRESS_MAX:
        raise NoAddress(address)
    try:
        url = URL(address)
    except ValueError:
        raise NoAddress(address) from None
    if url.protocol not in ("http:", "https:") or not domains.is_host(url.host):
        raise NoAddress(address)
    return url.host, url.pathname or "/"


def _reason(embed: Embed, page: path_patterns.PathVerdict) -> Reason:
    if embed.page_rules["type"] == PageRuleType.ALL:
        return Reason.ALL_PAGES
    if page.pattern is None:
        return Reason.NOT_EXCLUDED if page.is_shown else Reason.NO_PATTERN
    return Reason.MATCHES if page.is_shown else Reason.EXCLUDED
