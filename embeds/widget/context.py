"""Template contexts of the pages, with the JSON data of their scripts.

Content-Security-Policy of the pages: what they may load, and which pages may frame them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from embeds import domains
from embeds.models import Embed, SignInMode
from embeds.widget import demo
from embeds.widget.assets import (
    Asset,
    Scheme,
    emoji_names,
    later_script,
    markdown_script,
    moderation_script,
    panel_script,
    panel_styles,
    picker_script,
)
from embeds.widget.ink import ink_on
from embeds.widget.locales import direction, pick_language, words

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


# How often a client without a stream asks for changes, on average.
POLL_SECONDS = 30


def language(request: HttpRequest) -> dict[str, Any]:
    """Return `lang`, `dir` and `words` of the language of `?lang=` or Accept-Language."""
    lang = pick_language(request.GET.get("lang"), request.headers.get("Accept-Language", ""))
    return {"lang": lang, "dir": direction(lang), "words": words(lang)}


def scheme(request: HttpRequest) -> Scheme:
    """Return the colours of `?theme=`; without it, the browser chooses."""
    match request.GET.get("theme"):
        case "light":
            return "light"
        case "dark":
            return "dark"
    return "auto"


def form(request: HttpRequest) -> dict[str, Any]:
    """Return how the panel is shown: in which colours, whether a site changes them, and whether inside a page."""
    return {
        "scheme": scheme(request),
        "is_themed": request.GET.get("theme") == "site",
        "is_inline": request.GET.get("mode") == "inline",
    }


def panel(embed: Embed, chosen: Mapping[str, Any], *, has_session: bool) -> dict[str, Any]:
    """`chosen`: what `language` and `form` return."""
    lang = chosen["lang"]
    accent = embed.trigger_config["color"]
    # Where readers sign in with the site alone, the cookie of another site's panel signs nobody in.
    has_session = has_session and embed.sign_in != SignInMode.OWN
    panel_settings = {
        "serviceId": str(embed.pk),
        "communityId": str(embed.community_id),
        "accent": accent,
        "onAccent": ink_on(accent),
        "pollSeconds": POLL_SECONDS,
        "streamUrl": settings.STREAM_URL,
        "hasSession": has_session,
        "signIn": "" if embed.sign_in == SignInMode.SERVICE else embed.sign_in,
        "signInUrl": embed.sign_in_url,
        "laterUrl": _address("later-script", later_script()),
        "moderationUrl": _address("moderation-script", moderation_script(lang), lang),
        "markdownUrl": _address("markdown-script", markdown_script()),
        "pickerUrl": _address("picker-script", picker_script()),
        "emojiUrl": _address("emoji-names", emoji_names(lang), lang),
        "editMinutes": settings.EDIT_MINUTES,
    }
    data = _data(chosen["words"], "panel", "tag", settings=panel_settings)
    digests = {"script": panel_script().digest, "styles": panel_styles(chosen["scheme"]).digest}
    return {"data": data, "has_session": has_session, **digests}


def sign_in(words: Mapping[str, Any]) -> dict[str, Any]:
    return {"data": _data(words, "panel", "signin", settings={"serviceId": None})}


def _address(name: str, asset: Asset, *arguments: str) -> str:
    return f"{reverse(name, args=arguments)}?v={asset.digest}"


def _data(words: Mapping[str, Any], *groups: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"words": {group: words[group] for group in (*groups, "error")}, "settings": settings}
