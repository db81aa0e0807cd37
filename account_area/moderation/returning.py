"""The list that a form of a moderator was on: that of the community, or of one of its sites."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.http import HttpRequest
from django.urls import Resolver404, resolve, reverse

from messaging.models import Community

OF_SITE = "site-posts"
# What a link to a list has; the rest of its address is about an earlier decision.
SHOWN = ("state", "cursor")


def list_url(request: HttpRequest, community: Community, told: Iterable[tuple[str, str]] = ()) -> str:
    """The address that the form has sent, if it is one of this service's lists. `told`: what the list is to say."""
    own = reverse("moderation", args=[community.slug])
    try:
        parts = urlsplit(request.POST.get("back", ""))
    except ValueError:
        parts = urlsplit("")
    is_ours = not parts.netloc and not parts.scheme and (parts.path.startswith(own) or _is_of_site(parts.path))
    query = [(name, value) for name, value in parse_qsl(parts.query) if name in SHOWN] + list(told)
    path = parts.path if is_ours else own
    return f"{path}?{urlencode(query)}" if query else path


def _is_of_site(path: str) -> bool:
    try:
        return resolve(path).url_name == OF_SITE
    except Resolver404:
        return False
