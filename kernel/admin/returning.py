"""The list to which a page of the admin leads back, also that of another model: a parameter of the page's URL."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit, urlunsplit

from django.http import HttpRequest
from django.urls import Resolver404, resolve

RETURN = "_return"


def returning(url: str, to: str) -> str:
    """The URL with the list to which its page leads back."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode({RETURN: to})}" if to else url


def return_url(request: HttpRequest) -> str:
    """The list with its filters and the row; empty without one. Only lists of the admin, so it leads nowhere else."""
    try:
        parts = urlsplit(request.GET.get(RETURN, ""))
        match = resolve(parts.path)
    except (ValueError, Resolver404):
        return ""
    is_list = match.app_name == "admin" and str(match.url_name).endswith("_changelist")
    return urlunsplit(parts) if is_list and not parts.scheme and not parts.netloc else ""
