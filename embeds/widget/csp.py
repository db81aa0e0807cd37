"""Content-Security-Policy of the pages: what they may load, and which pages may frame them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from embeds import domains
from embeds.models import Embed
from embeds.widget import demo

# Proxies truncate long headers. A longer list is replaced by the host of the embedding page.
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
    """Return the strict policy; `changes` replace directives, with `_` for `-` in their names."""
    directives = BASE | {name.replace("_", "-"): value for name, value in changes.items()}
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def with_streams(sources: str = "'self'") -> str:
    """Return `connect-src` sources of a page that follows streams, which another origin may serve."""
    return f"{sources} {_source_of(settings.STREAM_URL)}" if settings.STREAM_URL else sources


def _source_of(origin: str) -> str:
    """The source of an origin. A source cannot be an IPv6 address, so such an origin has its scheme."""
    scheme, _, host = origin.partition("://")
    return f"{scheme}:" if host.startswith("[") else origin


def page(view: View) -> View:
    """Decorate a page view: set the strict policy unless the view sets one, and forbid shared caches."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        response.headers.setdefault("Content-Security-Policy", policy())
        response.headers.setdefault("Cache-Control", "private, no-cache")
        response.headers.setdefault("Referrer-Policy", "same-origin")
        return response

    return wrapped


def frame_ancestors(embed: Embed, host: str) -> str:
    """Return the `frame-ancestors` sources of the panel by the embed's lists. `host` is what the embedding page sends.

    A source list cannot exclude hosts and has to be short. With a blacklist or a long whitelist, the only source is
    `host` if the lists allow it, else none. A false `host` is harmless: browsers compare it with the real one. The
    service's own pages, such as the preview of an embed's look, may always frame it.
    """
    if host in own_hosts():
        return f"http://{host}"
    if not embed.domain_blacklist:
        sources = _sources(embed.domain_whitelist) if embed.domain_whitelist else ANYWHERE
        if len(sources) <= SOURCES_MAX:
            return sources
    return f"http://{host}" if domains.is_host(host) and embed.allows_host(host) else NOWHERE


def own_hosts() -> set[str]:
    """The hosts of this service. Each local name has a twin (see `embeds.widget.demo`)."""
    origins = (settings.BASE_URL, settings.APP_URL)
    hosts = {origin.partition("://")[2] for origin in origins}
    return hosts | {demo.twin(host) for host in hosts}


def _sources(entries: Iterable[str]) -> str:
    """Return CSP sources of whitelist entries; invalid entries are left out. In CSP, http includes https."""
    valid = filter(domains.is_entry, entries)
    hosts = [host for entry in valid for host in ([entry] if "*" in entry else [entry, f"www.{entry}"])]
    return " ".join(f"http://{host}" if domains.PORT.search(host) else f"http://{host}:*" for host in hosts) or NOWHERE
