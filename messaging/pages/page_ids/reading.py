"""Parameters that contain a visitor's session id and do not identify the page.

They are removed under the default names of servers. `sid` is also used for content, so it is removed only if its value
looks like a session id: 16 or more hexadecimal digits.
"""

from __future__ import annotations

import re
from typing import TypeVar

from ada_url import parse_url

from messaging.pages.page_ids.copies import HOST_MAX, original
from messaging.pages.page_ids.rules import (
    Rule,
    canonical_escapes,
    composed,
    is_route,
    is_share,
    is_tracking,
    rules_of_the_parser,
    without_entities,
)

# Java servers append it to the last segment of the path.
PATH_PARAMETER = re.compile(r";(jsessionid)=[^/;]*", re.IGNORECASE)

_NAMES = frozenset({"phpsessid", "jsessionid"})
_PREFIX = "aspsessionid"  # Classic ASP appends random letters.
_SID = re.compile(r"[0-9a-f]{16,}\Z", re.IGNORECASE)


def is_session(name: str, value: str) -> bool:
    """`name` is decoded; its case is ignored."""
    name = name.lower()
    return name in _NAMES or name.startswith(_PREFIX) or (name == "sid" and _SID.match(value) is not None)


T = TypeVar("T")

_PARTS = ("protocol", "hostname", "port", "pathname", "search", "hash")
_SCHEMES = frozenset({"http:", "https:"})
_DEFAULT_PORTS = frozenset({"80", "443"})
_SLASHES = re.compile("//+")
_INDEX_FILES = frozenset({"index.html", "index.htm"})


class InvalidUrl(ValueError):
    """The text is not the URL of a page; `reason` is a short phrase."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Reading:
    """Applies the rules to one URL, and records the rules that changed it and the removed parameters."""

    def __init__(self) -> None:
        self.rules: set[Rule] = set()
        self.removed: dict[str, None] = {}

    def read(self, url: str) -> str:
        """The URL after each rule was applied once; raises InvalidUrl."""
        try:
            parts = parse_url(url, _PARTS)
        except ValueError:
            raise InvalidUrl("not an absolute URL") from None
        if parts["protocol"] not in _SCHEMES:
            raise InvalidUrl("neither http nor https")
        if copy := original(parts):
            self.rules.add(copy[0])
            return copy[1]
        port = "" if parts["port"] in _DEFAULT_PORTS else parts["port"]
        path, query = self._path(parts["pathname"]), self._query(parts["search"])
        tail = self._without_index(path, query) + query + self._fragment(parts["hash"])
        self._after(Rule.HTTP_TO_HTTPS, parts["protocol"], "https:")
        normalized = f"https://{self._host(parts['hostname'])}{port and ':' + port}{tail}"
        if normalized != url:
            self.rules |= rules_of_the_parser(url, parts["hostname"], port)
        return normalized

    def _after(self, rule: Rule, before: T, after: T) -> T:
        if before != after:
            self.rules.add(rule)
        return after

    def _host(self, host: str) -> str:
        bare = self._after(Rule.DROP_TRAILING_DOT, host, host.rstrip("."))
        if not 0 < len(bare) <= HOST_MAX:
            raise InvalidUrl(f"a host has 1 to {HOST_MAX} characters")
        name = bare
        while name.startswith("www.") and "." in name[4:]:
            name = name[4:]
        return self._after(Rule.DROP_WWW, bare, name)

    def _path(self, path: str) -> str:
        path = self._after(Rule.PERCENT_ENCODING, path, canonical_escapes(path))
        path = self._after(Rule.COMPOSE_UNICODE, path, composed(path))
        self.removed |= dict.fromkeys(PATH_PARAMETER.findall(path))
        path = self._after(Rule.DROP_SESSION, path, PATH_PARAMETER.sub("", path))
        path = self._after(Rule.COLLAPSE_SLASHES, path, _SLASHES.sub("/", path))
        return self._after(Rule.DROP_TRAILING_SLASH, path, path.rstrip("/") or "/")

    def _without_index(self, path: str, query: str) -> str:
        segments = path.split("/")
        while _is_index(segments[-1], query):
            segments.pop()
        return self._after(Rule.DROP_INDEX_FILE, path, "/".join(segments) or "/")

    def _query(self, search: str) -> str:
        if not (sent := search[1:]):
            return ""
        pieces = self._after(Rule.PERCENT_ENCODING, sent, canonical_escapes(sent.replace("+", "%20"))).split("&")
        pairs = self._after(Rule.NAME_VALUE_PAIRS, pieces, [_pair(piece) for piece in pieces if piece])
        remaining = self._remaining(pairs)
        query = "&".join(self._after(Rule.SORT_QUERY, remaining, sorted(remaining, key=_name)))
        return query and "?" + query

    def _remaining(self, pairs: list[str]) -> list[str]:
        return [pair for pair in pairs if not self._removes(pair, pairs)]

    def _removes(self, pair: str, pairs: list[str]) -> bool:
        """Whether one of these parameters is removed. Such a name has no escapes in canonical form, but of `&amp;`."""
        name, _, value = pair.partition("=")
        plain = without_entities(name)
        if is_tracking(plain) or is_share(plain, value, pairs):
            self.rules.add(Rule.DROP_TRACKING)
        elif is_session(plain, value):
            self.rules.add(Rule.DROP_SESSION)
        else:
            return False
        self.removed[name] = None
        return True

    def _fragment(self, fragment: str) -> str:
        if not is_route(fragment):
            return ""
        fragment = self._after(Rule.PERCENT_ENCODING, fragment, "#" + canonical_escapes(fragment[1:]))
        path, mark, query = fragment.partition("?")
        path = self._after(Rule.COMPOSE_UNICODE, path, composed(path))
        remaining = "&".join(self._remaining(query.split("&")))
        if mark and not query:
            self.rules.add(Rule.DROP_EMPTY_QUERY)
        route = path + (mark + remaining if remaining else "")
        return self._after(Rule.DROP_FRAGMENT, route, route if is_route(route) else "")


def _is_index(segment: str, query: str) -> bool:
    """`default.aspx` is served by IIS, whose paths ignore case. `index.php?p=1` is a separate page."""
    if segment == "index.php":
        return not query
    return segment in _INDEX_FILES or segment.lower() == "default.aspx"


def _pair(piece: str) -> str:
    return piece if "=" in piece else piece + "="


def _name(pair: str) -> str:
    return pair.partition("=")[0]
