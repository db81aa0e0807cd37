"""What browsers are told about our pages: where they may be framed and what they may load."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse

from embeds import domains
from embeds.models import Embed

# Proxies cut long headers off; a longer list is narrowed to the page that asks.
SOURCES_MAX = 3_000
ANYWHERE = "http: https:"
NOWHERE = "'none'"
BASE = {
    "default-src": NOWHERE,
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "base-uri": NOWHERE,
    "form-action": NOWHERE,
    "frame-ancestors": NOWHERE,
    "require-trusted-types-for": "'script'",
    "trusted-types": NOWHERE,
}
View = Callable[..., HttpResponse]


def policy(**changes: str) -> str:
    """The strict policy of our pages; `changes` name directives with underscores."""
    directives = BASE | {name.replace("_", "-"): value for name, value in changes.items()}
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def page(view: View) -> View:
    """A page of ours: the strict policy, unless the view sets a looser one, and never kept by a shared cache."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        response.headers.setdefault("Content-Security-Policy", policy())
        response.headers.setdefault("Cache-Control", "private, no-cache")
        response.headers.setdefault("Referrer-Policy", "same-origin")
        return response

    return wrapped


def frame_ancestors(embed: Embed, host: str) -> str:
    """Which pages may hold the panel, by the embed's lists. `host` is what the page that asks says that it is.

    A source list can exclude no host, and has to be short. Where there is a blacklist, or a long whitelist, the answer
    is that one host, or none. A page that names another's host gains nothing: browsers compare it with the page's own.
    """
    if not embed.domain_blacklist:
        sources = _sources(embed.domain_whitelist) if embed.domain_whitelist else ANYWHERE
        if len(sources) <= SOURCES_MAX:
            return sources
    return f"http://{host}" if domains.is_host(host) and embed.allows_host(host) else NOWHERE


def _sources(entries: Iterable[str]) -> str:
    """CSP sources of whitelist entries, without any that is no entry. To browsers, http includes https."""
    named = filter(domains.is_entry, entries)
    hosts = [host for entry in named for host in ([entry] if "*" in entry else [entry, f"www.{entry}"])]
    return " ".join(f"http://{host}" if domains.PORT.search(host) else f"http://{host}:*" for host in hosts) or NOWHERE
