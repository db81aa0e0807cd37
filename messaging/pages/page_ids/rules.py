from __future__ import annotations

import re
from enum import StrEnum

from messaging.pages.page_ids.encoding import has_canonical_escapes


class Rule(StrEnum):
    """The rules of normalisation, in the order in which they are applied."""

    UNWRAP_TRANSLATION = "unwrap_translation"
    UNWRAP_ARCHIVE = "unwrap_archive"
    UNWRAP_NOTES = "unwrap_notes"
    PARSE_AS_BROWSER = "parse_as_browser"
    DROP_USER_INFO = "drop_user_info"
    CANONICAL_HOST = "canonical_host"
    DROP_TRAILING_DOT = "drop_trailing_dot"
    DROP_WWW = "drop_www"
    HTTP_TO_HTTPS = "http_to_https"
    DROP_DEFAULT_PORT = "drop_default_port"
    RESOLVE_DOT_SEGMENTS = "resolve_dot_segments"
    COLLAPSE_SLASHES = "collapse_slashes"
    PERCENT_ENCODING = "percent_encoding"
    COMPOSE_UNICODE = "compose_unicode"
    DROP_INDEX_FILE = "drop_index_file"
    DROP_TRAILING_SLASH = "drop_trailing_slash"
    NAME_VALUE_PAIRS = "name_value_pairs"
    DROP_TRACKING = "drop_tracking"
    DROP_SESSION = "drop_session"
    SORT_QUERY = "sort_query"
    DROP_EMPTY_QUERY = "drop_empty_query"
    DROP_FRAGMENT = "drop_fragment"


_ROUTES = ("#!", "#/")
_EMPTY_ROUTES = frozenset({"#!", "#/", "#!/"})

_AS_SENT = re.compile(
    r"(?P<scheme>[^:]*):(?P<slashes>[/\\]*)(?P<user>[^/\\?#]*@)?(?P<host>\[[^\]]*\]|[^/\\?#:]*)(?P<port>:[0-9]*)?"
    r"(?P<path>[/\\][^?#]*)?(?P<query>\?[^#]*)?(?P<fragment>#.*)?",
    re.DOTALL,
)
_DOT_SEGMENT = re.compile(r"[/\\](?:\.|%2e){1,2}(?![^/\\])", re.IGNORECASE)


def is_route(fragment: str) -> bool:
    """Whether a fragment identifies a page of a single-page application."""
    return fragment.startswith(_ROUTES) and fragment not in _EMPTY_ROUTES


def rules_of_the_parser(url: str, hostname: str, port: str) -> set[Rule]:
    """The rules that the parser applied, by comparing the URL as sent with the parsed `hostname` and `port`."""
    sent = _AS_SENT.fullmatch(url.strip(" "))
    if sent is None:
        return {Rule.PARSE_AS_BROWSER}
    part = sent.groupdict(default="")
    path, query, fragment = part["path"], part["query"], part["fragment"]
    has_route = is_route(fragment)
    plain = url[:7] == "http://" or url[:8] == "https://"
    escapes = path.replace("\\", "/") + query + fragment[1:] * has_route
    applied = {
        Rule.PARSE_AS_BROWSER: not plain or url.endswith(" ") or "\\" in path or part["slashes"] != "//" or not path,
        Rule.DROP_USER_INFO: bool(part["user"]),
        Rule.CANONICAL_HOST: part["host"] != hostname,
        Rule.DROP_DEFAULT_PORT: bool(part["port"]) and not port,
        Rule.RESOLVE_DOT_SEGMENTS: _DOT_SEGMENT.search(path) is not None,
        # Browsers escape an apostrophe in a query, although RFC 3986 allows it.
        Rule.PERCENT_ENCODING: not has_canonical_escapes(escapes) or "'" in query,
        Rule.DROP_EMPTY_QUERY: query != "" and not query.strip("?&"),
        Rule.DROP_FRAGMENT: fragment != "" and not has_route,
    }
    return {rule for rule, is_applied in applied.items() if is_applied}
