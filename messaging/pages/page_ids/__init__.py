"""Normalises URLs and derives page ids, so that all URLs of one page have the same id.

A post belongs to a page, which is identified by its URL. One page has many URLs: with `utm_source`, with `http:`, with
`www.`, with a trailing slash, with the id of a share button. The page id is a digest of the normalised URL.

Two errors are possible. One page with two ids splits a thread. Two pages with one id show a thread on the wrong page,
which is worse. So a rule exists only if hardly any different pages become one by it: `http` and `https` of one host,
`/a` and `/a/`, `/index.html` and `/` are the same in practice, although no standard requires it; the order of query
parameters with different names, and the listed tracking parameters, change no known page; a path in NFD names the same
file as in NFC; a translation by Google and a copy at web.archive.org or via.hypothes.is show the page whose address
they contain. These stay unchanged, because they may identify a page: the case of a path, `m.` hosts, AMP,
`rel=canonical` (it would have to be fetched, and a page could claim another's thread), parameters like `id`, `ref` or
`page`, the order of parameters with one name, `a;b`, and `%2F` against `/`. A fragment is a position on a page and is
dropped, except after `#!` and `#/`, with which single-page applications identify their pages. A session id identifies a
visitor, so it is dropped from the path, the query and such a fragment; tracking parameters are dropped from query and
fragment. `index.php` with a query stays unchanged, because the query may have another meaning than after `/`.

A parser of the WHATWG URL standard reads the URL as browsers do (backslashes, `0x7f.1`, `%2e%2e`, IDNA). The rules
apply to its result, and parsing the normalised URL returns it unchanged.

The normalised URL is an identifier, not a link: `http://intranet:8080/` becomes `https://intranet:8080/`, which may not
exist. Nothing here opens a connection. Normalisation is idempotent. A URL has at most `URL_MAX` characters, both as
sent and normalised. The result is ASCII and is valid input.

The rules, the list of tracking parameters included, have a version, the `1` in `p1_`. Changing a rule changes the ids
of the pages that it affects. `renormalize_pages --apply` then moves their posts and redirects the old ids
(see `messaging.pages.moving`).
"""

from messaging.pages.page_ids.normalizing import PAGE_ID, URL_MAX, NormalizedUrl, is_page_id, normalize
from messaging.pages.page_ids.reading import InvalidUrl
from messaging.pages.page_ids.rules import TRACKING_VERSION, Rule, is_tracking

__all__ = [
    "PAGE_ID",
    "TRACKING_VERSION",
    "URL_MAX",
    "InvalidUrl",
    "NormalizedUrl",
    "Rule",
    "is_page_id",
    "is_tracking",
    "normalize",
]
