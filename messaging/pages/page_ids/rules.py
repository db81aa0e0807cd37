"""Query parameters that track how a reader reached a page and do not identify the page.

A name is listed if its owner documents it as tracking and no known site selects content by it. Names that are also used
for content (`ref`, `source`, `id`, `campaign`, `si`, `spm`, `trk`) are not listed, even if they mostly track.

Canonical RFC 3986 percent-encoding: escapes only where needed, in upper case.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from urllib.parse import quote, unquote

UNRESERVED = string.ascii_letters + string.digits + "-._~"
RESERVED = "!$&'()*+,;=:@/?"

# Matches escapes, and the characters that a path, query or fragment must escape, among them a `%` outside an escape.
_TO_DECIDE = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^{re.escape(UNRESERVED + RESERVED)}]")

_ESCAPED = {chr(code): f"%{code:02X}" for code in range(128)}
_DECIDED = _ESCAPED | {
    f"%{high}{low}": chr(code) if chr(code := int(high + low, 16)) in UNRESERVED else f"%{code:02X}"
    for high in string.hexdigits
    for low in string.hexdigits
}

# Characters before U+0300 are composed.
_MAY_COMPOSE = re.compile("%(?:C[C-F]|[D-F])")
# Matches escapes of ASCII, which stay, and runs of letters and escapes of others, which may compose.
_RUN = re.compile(rf"%[0-7].|(?:[{re.escape(UNRESERVED)}]|%[89A-F].)+")


def canonical_escapes(text: str) -> str:
    """ASCII text with unreserved characters decoded, hex digits in upper case, and illegal characters escaped.

    Each escape is decoded at most once, so `%2541` stays: decoding it twice would change its meaning.
    """
    return _TO_DECIDE.sub(lambda match: _DECIDED[match.group()], text)


def has_canonical_escapes(text: str) -> bool:
    return all(_DECIDED.get(piece) == piece for piece in _TO_DECIDE.findall(text))


def composed(text: str) -> str:
    """Canonical escapes in NFC: some systems name files in NFD. What is no UTF-8 stays."""
    return _RUN.sub(_composed, text) if _MAY_COMPOSE.search(text) else text


def _composed(run: re.Match[str]) -> str:
    try:
        decoded = unquote(run[0], errors="strict")
    except UnicodeDecodeError:
        return run[0]
    is_composed = decoded.isascii() or unicodedata.is_normalized("NFC", decoded)
    return run[0] if is_composed else quote(unicodedata.normalize("NFC", decoded), safe="")


# The date of the last change. A change gives other ids to pages: see `messaging.pages.page_ids` on versions.
TRACKING_VERSION = "2026-11-29"

_PREFIXES = (
    "utm_",  # Google Analytics and compatible tools
    "mtm_",  # Matomo
    "hsa_",  # HubSpot ads
    "oly_",  # Omeda
    "vero_",  # Vero
    "via.",  # Hypothesis
    "wt.",  # Webtrends
    "_x_tr_",  # Google Translate
)

_BY_OWNER = {
    "Google": "gclid gclsrc gbraid wbraid dclid gad_source gad_campaignid srsltid _ga _gac _gl",
    "Meta": "fbclid fb_action_ids fb_action_types fb_ref fb_source igshid igsh mibextid",
    "Microsoft": "msclkid",
    "Yandex": "yclid ysclid _openstat",
    "X": "twclid ref_src __twitter_impression",
    "TikTok, LinkedIn, Pinterest, Snapchat, Reddit": "ttclid li_fat_id epik sccid rdt_cid",
    "Matomo": "pk_campaign pk_cid pk_content pk_keyword pk_kwd pk_medium pk_source piwik_campaign piwik_kwd",
    "Mailchimp": "mc_cid mc_eid mc_tc",
    "HubSpot": "_hsenc _hsmi __hssc __hstc __hsfp hsctatracking",
    "Marketo, Drip, Klaviyo, dotdigital, ActiveCampaign": "mkt_tok __s _ke _kx dm_i vgo_ee",
    "Kit, Eloqua": "ck_subscriber_id elqtrack elqtrackid elqaid elqat",
    "MailerLite, Bronto": "ml_subscriber ml_subscriber_hash _bta_c _bta_tid",
    "Adobe, Impact, CJ": "ef_id s_kwcid irclickid irgwc cjevent",
    "Branch, Piano": "_branch_match_id _branch_referrer at_campaign at_medium",
    "WeChat": "isappinstalled",
    "WordPress": "replytocom",
    "Yahoo": "guccounter guce_referrer guce_referrer_sig",
    "Comscore": "ns_campaign ns_linkname ns_mchannel ns_source",
}
# WeChat names the place of a link that was shared there. The last one alone may select content.
_PLACE_OF_APP = "timeline"
_PLACES = frozenset({"singlemessage", "groupmessage", _PLACE_OF_APP})
# Of an address that was copied from HTML, or from the HTML of HTML.
_ENTITIES = re.compile(r"(?:amp(?:;|%3B))+", re.IGNORECASE)
_NAMES = frozenset(" ".join(_BY_OWNER.values()).split())


def is_tracking(name: str) -> bool:
    """`name` is decoded; its case is ignored."""
    name = name.lower()
    return name in _NAMES or name.startswith(_PREFIXES)


def is_share(name: str, value: str, pairs: Iterable[str]) -> bool:
    """Whether it is WeChat's parameter `from`, among these parameters."""
    if name != "from" or value not in _PLACES:
        return False
    return value != _PLACE_OF_APP or any(pair.startswith("isappinstalled=") for pair in pairs)


def without_entities(name: str) -> str:
    """The name without `amp;` before it."""
    match = _ENTITIES.match(name) if name[0:1] in "aA" else None
    return name[match.end() :] if match else name


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
