"""What the check-up of a page says: in sentences, from the rules and from what the loader told. Nothing is fetched.

Compares a page's HTML, pasted by its owner, with the code of the site.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from embeds.checkup import PageVerdict, Reason, check_page, refusal_of
from embeds.domains import OPAQUE
from embeds.embed_code import LOADER_PATH
from embeds.models import Embed, EmbedMode, Sighting
from embeds.page_loads import STORED_DAYS
from embeds.schemes import with_scheme_of
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


SENTENCES = {
    Reason.DISABLED: gettext_lazy("Not shown: an administrator disabled this site."),
    Reason.PAUSED: gettext_lazy("Not shown: this site is paused."),
    Reason.BLACKLISTED: gettext_lazy("Not shown on %(host)s: your entry %(rule)s refuses this domain."),
    Reason.NOT_WHITELISTED: gettext_lazy("Not shown: %(host)s is not one of the domains of the site."),
    Reason.NO_PATTERN: gettext_lazy("%(path)s: not shown, because no rule matches it."),
    Reason.EXCLUDED: gettext_lazy("%(path)s: not shown, because rule %(number)s matches: %(rule)s"),
    Reason.ALL_PAGES: gettext_lazy("%(path)s: shown, as on all pages."),
    Reason.MATCHES: gettext_lazy("%(path)s: shown, because rule %(number)s matches: %(rule)s"),
    Reason.NOT_EXCLUDED: gettext_lazy("%(path)s: shown, because no rule excludes it."),
}
# Why a page that asked for the widget was refused. None means that the lists have changed since.
REFUSALS = {
    Reason.BLACKLISTED: gettext_lazy(
        "A page on %(page)s asked for the widget, but your entry %(rule)s refuses this domain."
    ),
    Reason.NOT_WHITELISTED: gettext_lazy(
        "A page on %(page)s asked for the widget, but it is not one of the domains of the site."
    ),
    None: gettext_lazy("A page on %(page)s was refused, but your domains allow it now. Reload the page."),
}


class Answer(NamedTuple):
    is_shown: bool
    sentence: str
    hints: Sequence[str] = ()


def answer(site: Embed, address: str, sightings: Sequence[Sighting] | None = None) -> Answer:
    """Whether the widget shows on the page and why; with sightings, also what else may be wrong."""
    verdict = check_page(site, address)
    values = {"host": verdict.host, "path": verdict.path, "rule": verdict.rule, "number": verdict.number}
    hints = [] if sightings is None else [*_hints(verdict, address, sightings)]
    return Answer(verdict.is_shown, SENTENCES[verdict.reason] % values, hints)


def content_policy() -> str:
    """The directives that a site with a Content-Security-Policy adds."""
    names = ("script-src", "connect-src", "frame-src")
    return "\n".join(f"{name} {settings.APP_URL};" for name in names)


def state_of(site: Embed, sightings: Sequence[Sighting], *, is_visited: bool) -> tuple[str, str]:
    """What is known of the installation: its name, for scripts, and the sentence. `is_visited`: visits are counted."""
    seen = [sighting for sighting in sightings if not sighting.is_refused]
    refused = [sighting for sighting in sightings if sighting.is_refused]
    if seen and not (refused and refused[0].last_seen_at > seen[0].last_seen_at):
        return "seen", _("We have seen your widget on %(page)s.") % {"page": page_of(seen[0])}
    if refused:
        return "refused", _refusal(site, refused[0])
    if is_visited:
        return "lost", _("We have not seen your widget in the last %(days)d days.") % {"days": STORED_DAYS}
    return "waiting", _("Waiting for the first visit. Open a page of your site that has the code.")


def page_of(sighting: Sighting) -> str:
    if sighting.host == OPAQUE:
        return _("a page without a domain, such as a file")
    return with_scheme_of(f"{sighting.host}{sighting.path}", is_plain=sighting.is_plain)


def _refusal(site: Embed, sighting: Sighting) -> str:
    reason, rule = refusal_of(site, sighting.host)
    if sighting.host == OPAQUE and reason is not None:
        return _("A page without a domain, such as a file, asked for the widget. Only pages of your domains get it.")
    return REFUSALS[reason] % {"page": page_of(sighting), "rule": rule}


def _hints(verdict: PageVerdict, address: str, sightings: Sequence[Sighting]) -> Iterator[str]:
    hosts = {sighting.host for sighting in sightings}
    if verdict.host in hosts:
        return
    if address.startswith("https://") and settings.APP_URL.startswith("http://"):
        yield _("If the page is https, browsers refuse the widget, which comes from http.")
    if _twin(verdict.host) in hosts:
        yield _("We have seen the widget on %(host)s, but not on this address.") % {"host": _twin(verdict.host)}
    elif verdict.is_shown:
        yield _("We have not seen the widget on this domain in %(days)d days: the code may be missing on the page.") % {
            "days": STORED_DAYS
        }


def _twin(host: str) -> str:
    return host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"
