"""The rules of URL normalisation and page ids."""

import hashlib
import socket

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from messaging.pages.page_ids import URL_MAX, InvalidUrl, NormalizedUrl, Rule, is_page_id, is_tracking, normalize
from tests.messaging.growth import is_linear
from tests.messaging.page_pairs import DIFFERENT, SAME

PIECES = """http: https: HTTP: : // / \\ . .. ... %2e %2E%2e www. WWW. example.com EXAMPLE.com. x 0x7f 1 256 [::1] :80
:443 :8080 @ a:b@ index.html index.php/ default.aspx Default.aspx ? & = # #! #/ ; + %20 % %2 %41 %2541 %C3%A9 %zz é 中
ｗ 。 \u00ad 💩 ' " [ ] | utm_source=1 UTM_x %75tm_a gclid b=2 a a= a=1
sid=0123456789abcdef PHPSESSID=1 ;jsessionid=1 index.php ^ ` { } < > $ ! * ( ) , ~ _ - xn-- xn--bcher-kva
\u0308 \ufdfa \u200b %CC%81 \u212a from=timeline isappinstalled=0 amp;utm_x=1 a-b.translate.goog _x_tr_hp= https:/
web.archive.org /web/1/ via.hypothes.is"""
ATOMS = [*PIECES.split(), " "]
URLS = st.one_of(
    st.lists(st.sampled_from(ATOMS), max_size=25).map("".join),
    st.lists(st.sampled_from(ATOMS), max_size=25).map(lambda atoms: "http://" + "".join(atoms)),
    st.text(max_size=40).map(lambda tail: "https://example.com/" + tail),
    st.text(max_size=40).map(lambda host: f"http://{host}/"),
    st.builds(lambda letter, count: "https://x/" + letter * count, st.sampled_from("a%é中💩"), st.integers(1, URL_MAX)),
    st.text(),
)


def read(url: str) -> NormalizedUrl | None:
    try:
        return normalize(url)
    except InvalidUrl:
        return None


def ids(row: tuple[str, ...]) -> list[str]:
    return [normalize(url).page_id for url in row]


def test_urls_of_one_page_have_one_id_and_those_of_two_pages_have_two() -> None:
    assert len({url for row in [*SAME, *DIFFERENT] for url in row}) >= 200
    assert [row for row in SAME if len({normalize(url).normalized_url for url in row}) > 1] == []
    assert [row for row in SAME if len(set(ids(row))) > 1] == []
    assert [row for row in DIFFERENT if len(set(ids(row))) < len(row)] == []


NO_PAGE_URLS = [
    *("", " ", "example.com/a", "//example.com/a", "/a", "https://", "https:///", "https://?", "https://#/a"),
    *("ftp://example.com/", "mailto:ann@example.com", "javascript:alert(1)", "file:///etc/passwd", "data:,x"),
    *("localhost:8000/a", "about:blank", "view-source:https://example.com/", "ws://x/", "https://x:65536/"),
    *("https://exa mple.com/", "https://exa<mple.com/", "https://a%00b.com/", "https://x%2Fy/", "https://%zz/"),
    *("https://x:a/", "https://256.1.1.1/", "https://256.1.1.1../", "https://[::1/", "https://[x]/"),
    *("https://./", "https://.../", "https://\u3002/", "https://\u00ad/", "https://" + "a" * 254 + "/"),
    *("https://x/\ud800", "https://\udfff/"),
    *(f"https://x/a{control}b" for control in "\x00\t\n\r\x1f\x7f\x80\x9f"),
    *("\nhttps://x/", "https://x/\n", "ht\ntps://x/"),
]


def reason_against(url: str) -> str | None:
    try:
        normalize(url)
    except InvalidUrl as refusal:
        return refusal.reason
    return None


def test_text_that_is_no_page_url_is_refused_with_a_reason() -> None:
    assert [url for url in NO_PAGE_URLS if not reason_against(url)] == []


def test_the_cap_applies_to_the_url_as_sent_and_normalised() -> None:
    too_long = ["?utm_source=" + "a" * URL_MAX]
    for letters in ("a" * 2_028, "é" * 338, "中" * 225 + "aaa"):
        assert len(normalize("https://example.com/" + letters).normalized_url) == URL_MAX
        too_long.append(letters + "a")
    for rest in too_long:
        with pytest.raises(InvalidUrl, match=f"longer than {URL_MAX} characters"):
            normalize("https://example.com/" + rest)


def test_the_id_is_the_hash_of_the_normalised_url() -> None:
    page = normalize("https://example.com/a?b=1")
    digest = hashlib.sha256(b"https://example.com/a?b=1").digest()
    assert page.normalized_url == "https://example.com/a?b=1"
    assert len(page.page_id) == 35
    bits = f"{int.from_bytes(digest):0256b}"[:160]
    letters = "abcdefghijklmnopqrstuvwxyz234567"
    assert page.page_id == "p1_" + "".join(letters[int(bits[at : at + 5], 2)] for at in range(0, 160, 5))


def test_rules_applied_are_listed_in_order() -> None:
    elsewhere = {Rule.DROP_EMPTY_QUERY, Rule.UNWRAP_TRANSLATION, Rule.UNWRAP_ARCHIVE, Rule.UNWRAP_NOTES}
    page = normalize(
        "HTTP:\\\\u:p@WWW.EXAMPLE.com.:80//x/../a%7eu%cc%88;jsessionid=1/index.html/"
        "?utm_source=n&b&GCLID=1&a=+&utm_source=m&SID=0123456789abcdef#part"
    )
    assert page.normalized_url == "https://example.com/a~%C3%BC?a=%20&b="
    assert page.rules_applied == tuple(rule.value for rule in Rule if rule not in elsewhere)
    assert page.removed_params == ("jsessionid", "utm_source", "GCLID", "SID")


def test_rules_applied_contains_only_rules_that_changed_the_url() -> None:
    expected = {
        "https://example.com/a?b=1": (),
        "https://example.com/#!/a": (),
        "https://example.com/?": ("drop_empty_query",),
        "https://example.com/a/": ("drop_trailing_slash",),
        "https://example.com:443/": ("drop_default_port",),
        "https://example.com/a%2fb": ("percent_encoding",),
        "https://example.com/?b=1&a=2": ("sort_query",),
        "http://example.com/": ("http_to_https",),
        "https://EXAMPLE.com/": ("canonical_host",),
        "https://example.com/?q='": ("percent_encoding",),
        "https://example.com/?PHPSESSID=1": ("drop_session",),
        "https://example.com/a;jsessionid=1": ("drop_session",),
        "https://example.com/index.php?a=1": (),
        "https://example.com/#/": ("drop_fragment",),
        "https://example.com/#!": ("drop_fragment",),
        "https://example.com/#/a?b=1&utm_source=x": ("drop_tracking",),
        "https://example.com/#/a?PHPSESSID=1": ("drop_session",),
        "https://example.com/#/?utm_source=x": ("drop_tracking", "drop_fragment"),
        "https://example.com/#/a?": ("drop_empty_query",),
        "https://example.com/u%CC%88": ("compose_unicode",),
        "https://a-example.translate.goog/?_x_tr_sl=de": ("unwrap_translation", "drop_tracking"),
        "https://web.archive.org/web/1/http://a.example/": ("unwrap_archive", "http_to_https"),
        "https://via.hypothes.is/https://a.example/": ("unwrap_notes",),
    }
    assert {url: normalize(url).rules_applied for url in expected} == expected


@settings(max_examples=150, deadline=None)
@given(URLS)
@example("https://%\u200b2e/")
@example("https://x/%%34%31")
@example("https://e.example/" + "é" * 340)
def test_normalisation_is_idempotent_and_a_browser_parses_its_result_unchanged(url: str) -> None:
    page = read(url)
    if page is None:
        return
    again = normalize(page.normalized_url)
    assert again == (page.page_id, page.normalized_url, (), ())
    assert (page.normalized_url != url) == bool(page.rules_applied)
    assert is_page_id(page.page_id)
    assert page.normalized_url.isascii()
    assert len(page.normalized_url) <= URL_MAX
    assert ada_url.URL(page.normalized_url).href == page.normalized_url


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["", "1", "2"])), max_size=8), st.randoms())
def test_the_order_of_different_parameter_names_is_ignored(pairs: list[tuple[str, str]], random: object) -> None:
    names = sorted({name for name, _ in pairs})
    random.shuffle(names)  # type: ignore[attr-defined]
    regrouped = [pair for name in names for pair in pairs if pair[0] == name]
    one, other = ("https://x/?" + "&".join(map("=".join, given_pairs)) for given_pairs in (pairs, regrouped))
    assert normalize(one).page_id == normalize(other).page_id


def test_normalisation_opens_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("normalisation opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for row in SAME:
        ids(row)


# The beginning of a URL, and what is repeated after it to the longest URL.
HOSTILE = {
    "https://x": ("/..", "/", "/a/..", "/%2e", "/index.html", "/a", "\\"),
    "https://x/": ("%25%32%35", "%", "%2", ".index.html/", "index.php/", "中", "💩", "a&", ";jsessionid="),
    "https://x/..;jsessionid=/": ("..;jsessionid=/",),
    "https://x/a": ("%CC%81%CC%A7", "%CC%81", "%E1%84%80%E1%85%A1", "%ff%CC%81"),
    "https://x.translate.goog/?_x_tr_enc=": ("0,", "&_x_tr_enc=0"),
    "https://web.archive.org": ("/web/1/https:/web.archive.org",),
    "https://x/?": ("&", "a&", "utm_a&", "=", "+", "%", "b&a&", "?"),
    "https://": ("www.", ".", "@", ":", "[", "xn--", "é.", "中", "%41", "1.", "\ufdfa"),
    "https:": ("/",),
    "https://x/#!": ("#",),
    "https://x/#!a?": ("&utm_a",),
}


def test_hostile_urls_are_normalised_in_a_time_that_grows_with_the_url_alone() -> None:
    slow = [
        (start, piece)
        for start, pieces in HOSTILE.items()
        for piece in pieces
        if not is_linear(lambda size, start=start, piece=piece: read(start + piece * (size // len(piece))), size=508)
    ]
    assert slow == []


def test_page_id_syntax() -> None:
    good = "p1_" + "a2" * 16
    assert is_page_id(good)
    for bad in ("", good + "\n", good + "a", good[:-1], good.upper(), "p2" + good[2:], " " + good, "p1_" + "a1" * 16):
        assert not is_page_id(bad)


def test_names_that_select_content_are_not_tracking() -> None:
    names = ["id", "ref", "source", "page", "q", "s", "v", "t", "utm", "ga", "si", "spm", "trk"]
    assert [name for name in names if is_tracking(name)] == []
