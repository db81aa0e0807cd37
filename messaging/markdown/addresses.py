"""Which addresses are links. static/embed/markdown/addresses.js decides the same."""

from __future__ import annotations

import re

from ada_url import URL

from messaging.word_lists.characters import in_categories

URL_MAX = 2048
# The CJK characters of the discussion that messaging/markdown/rules.py names: those of double or half width in East
# Asian texts, and all of Hangul, without emoji.
CJK = (
    r"\u1100-\u11ff\u20a9\u2329\u232a\u2e80-\u303e\u3041-\ua4c6\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\ufe10-\ufe19"
    r"\ufe30-\ufe6b\uff01-\uffee\U00016fe0-\U0001b2fb\U0001f200-\U0001f265\U00020000-\U0003fffd"
)
# And Thai, Lao, Myanmar and Khmer: scripts in which a word follows an address without a space.
UNSPACED = CJK + r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
# Punctuation and invisible characters inside the words of some languages, and among them those that hosts may have.
INSIDE_HOSTS = "\u00b7\u05f3\u05f4\u200c\u200d\u30fb"
INSIDE = INSIDE_HOSTS + "\u05be\u0f0b\u2010\u2011\u2012\u2013\u2019\u2027\uff65"
# All other punctuation between ASCII and U+FFFF ends an address, and so do spaces, controls, and ＜, ＞ and ｜.
ENDS = ("Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Zl", "Zp", "Zs", "Cc", "Cf")
BARE = re.compile(
    rf"([hH][tT][tT][pP][sS]?://[^\x00-$&-,/;-?[-^`{{-\x7f＜＞｜{in_categories(*ENDS, without=INSIDE_HOSTS)}]+)"
    rf'(?:[/?#][^\x00-\x20"<>[-^`{{|}}\x7f＜＞｜{in_categories(*ENDS, without=INSIDE)}]*)?'
)
# Where text without a space follows a host or its port. A label such as that of `shopカフェ.jp` goes on.
END_OF_HOST = re.compile(
    rf"[/.@][A-Za-z0-9-]*[A-Za-z0-9](?=[{UNSPACED}])(?![{UNSPACED}]+(?:\.[A-Za-z0-9-]+)+(?::[0-9]*)?\Z)"
    rf"|:[0-9]+(?=[{UNSPACED}])"
)
TRAILING = ".,;:!?'*_~" + INSIDE
# Browsers differ in what they accept as a host.
SAFE = re.compile(r"https?://[a-z0-9._:@\[\]\u00a1-\U0010ffff-]+(?:[/?#]|\Z)|mailto:[^?#]+@", re.IGNORECASE | re.ASCII)
SCHEME = re.compile(r"\A(?:https?://|mailto:)")


def bare_url(text: str, start: int, end: int) -> str:
    """The URL that begins there, without the punctuation of its sentence; "" if there is none, or a longer one than
    URL_MAX. A text may have thousands of addresses in one: each is read to this length only.
    """
    match = BARE.match(text, start, min(end, start + URL_MAX + 1))
    if match is None:
        return ""
    host_end = END_OF_HOST.search(match[1])
    found = match[1][: host_end.end()] if host_end else match[0]
    return "" if _is_long(found) else found[: _end_of(found)]


def _end_of(found: str) -> int:
    unopened = found.count(")") - found.count("(")
    end = len(found)
    while end:
        last = found[end - 1]
        if last == ")" and unopened > 0:
            unopened -= 1
        elif last not in TRAILING:
            break
        end -= 1
    return end


def _is_long(text: str) -> bool:
    """Browsers count a character beyond U+FFFF as two."""
    return len(text.encode("utf-16-le", "replace")) > 2 * URL_MAX


def safe_url(text: str) -> str:
    """The normal form of a web or mail address; "" for any other."""
    if not SAFE.match(text) or _is_long(text):
        return ""
    try:
        href = URL(text).href
    except ValueError:
        return ""
    return "" if len(href) > URL_MAX else href


def hidden_host(href: str, text: str) -> str:
    """The host of a link if its text does not begin with it, else ""."""
    url = URL(href)
    target = url.host or url.pathname
    shown = SCHEME.sub("", text.strip().lower())
    is_shown = shown.startswith(target.lower()) and shown[len(target) : len(target) + 1] in {"", "/", "?", "#", ":"}
    return "" if is_shown else target
