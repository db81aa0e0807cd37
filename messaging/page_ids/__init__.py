"""Which addresses are the same page.

Posts hang on pages, and a page is known by its URL only. But one page has many URLs: a link from a newsletter carries
`utm_source`, an old bookmark says `http:`, one author types `www.`, another a trailing slash, each share button adds an
id of its own. Were every spelling a page of its own, a thread would fall apart into as many threads as there are ways
to reach it. So a URL is normalised, and the normalised form, hashed, is the page id.

Two mistakes are possible. To take one page for two splits a thread: readers miss each other, which is a pity. To take
two pages for one shows a thread under a page it does not belong to, which is worse. So a rule is taken up only if pages
that it would wrongly join hardly exist: `http` and `https` of one host, `/a` and `/a/`, `/index.html` and `/` are one
in practice, though no standard says so; the order of query parameters of different names, and the names in the list of
tracking parameters, change no page we know of. What is left alone could be either: the case of a path, `m.` hosts, AMP,
`rel=canonical` (it would have to be fetched, and a page could then claim another's thread), parameters like `id`, `ref`
or `page`, the order of parameters of one name, `a;b`, and `%2F` against `/`. Fragments are places on a page, but `#!`
and `#/` are how single-page applications name their pages (alone they name none). A session id tells one visitor from
another, so it is dropped from the path, the query and such a fragment, as tracking parameters are from the latter two.
`index.php` with a query is left alone: there the query may mean something else than behind `/`.

How a URL is read is not ours to choose: browsers decide where a link leads, and they follow the WHATWG URL standard, so
a parser of that standard reads it (backslashes, `0x7f.1`, `%2e%2e`, IDNA). Only what it makes of the text is then
normalised, and the result is again something that it reads as itself.

The normalised URL is an identity, not a link: `http://intranet:8080/` becomes `https://intranet:8080/`, which may not
answer. Nothing here opens a connection. Normalising twice is normalising once. A URL has at most `URL_MAX` characters,
as it is sent and normalised: what comes out, all of it ASCII, may be sent in again.

The rules, and with them the list of tracking parameters, have a version, the `1` in `p1_`. A rule that is changed gives
other ids to the pages it touches. `renormalize_pages --apply` then moves their posts, and the old ids lead to the new
page (see `messaging.services.moving`).
"""

from messaging.page_ids.normalizing import URL_MAX, NormalizedUrl, is_page_id, normalize
from messaging.page_ids.reading import InvalidUrl
from messaging.page_ids.rules import Rule
from messaging.page_ids.tracking import TRACKING_VERSION, is_tracking

__all__ = [
    "TRACKING_VERSION",
    "URL_MAX",
    "InvalidUrl",
    "NormalizedUrl",
    "Rule",
    "is_page_id",
    "is_tracking",
    "normalize",
]
