"""Compares a page's HTML, pasted by its owner, with the code of the site."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from embeds.embed_code import LOADER_PATH
from embeds.models import Embed
from embeds.models.embed import EmbedMode
from kernel.html_references import without_long_references

CODE_MAX = 500_000
Attributes = dict[str, str]


class _Scripts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Attributes] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.found.append({name: value or "" for name, value in attrs})

    def parse_html_declaration(self, i: int) -> int:
        """`<![` begins a comment, as in browsers. Python's parser raises AssertionError for unknown keywords."""
        is_marked = self.rawdata.startswith("<![", i)
        return self.parse_bogus_comment(i) if is_marked else super().parse_html_declaration(i)


def faults_of_code(html: str, site: Embed) -> list[str]:
    """What is wrong with the code in the HTML of a page. Empty: it is right."""
    parser = _Scripts()
    # html.parser would look for the end from each begin.
    parser.feed(without_long_references(_without_open(_without_open(html, "<!--", "-->"), "<", ">")))
    parser.close()
    ours = [script for script in parser.found if _is_ours(script, site)]
    if not ours:
        return [_("The code is not in this text. Copy it again, and paste all of it.")]
    if len(ours) > 1:
        return [_("The code is there more than once. Once is enough.")]
    return _faults(ours[0], site)


def _without_open(html: str, begin: str, end: str) -> str:
    """The text up to the first begin that no end follows: for browsers, what follows is no element."""
    last = html.rfind(end) + 1
    return html[:last] + html[last:].partition(begin)[0]


def _is_ours(script: Attributes, site: Embed) -> bool:
    try:
        path = urlsplit(script.get("src", "")).path
    except ValueError:
        path = ""
    return path == LOADER_PATH or script.get("data-service-id") == str(site.pk)


def _faults(script: Attributes, site: Embed) -> list[str]:
    faults, source, service_id = [], script.get("src", ""), script.get("data-service-id", "")
    if source != f"{settings.APP_URL}{LOADER_PATH}":
        faults.append(
            _("src is %(found)s; it should be %(right)s")
            % {"found": source or "–", "right": f"{settings.APP_URL}{LOADER_PATH}"}
        )
    if service_id != str(site.pk):
        faults.append(
            _("data-service-id is %(found)s; it should be %(right)s") % {"found": service_id or "–", "right": site.pk}
        )
    mode = script.get("data-mode", "")
    if site.is_inline and mode != EmbedMode.INLINE:
        faults.append(
            _("data-mode is %(found)s; it should be %(right)s") % {"found": mode or "–", "right": EmbedMode.INLINE}
        )
    if script.get("type", "text/javascript") not in ("", "text/javascript", "module"):
        faults.append(_("type is %(found)s, so a browser does not run it. Leave it out.") % {"found": script["type"]})
    return faults
