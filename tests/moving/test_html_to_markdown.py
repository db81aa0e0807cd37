"""HTML of comments becomes Markdown that shows the same words."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from time import process_time
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from messaging.markdown.html import to_html, to_plain
from moving.detours import without_detours
from moving.html_to_markdown import HTML_MAX, html_to_markdown
from moving.markdown_escapes import escape
from tests.waiting import ATTEMPTS

LONG_REFERENCE = f"&#{'1' * 5000};"
SIGNED = "https%3A%2F%2Ft.example%2Fa_%28b%29%3Fq%3D1%26c%3A{}%3AAbC-EfGh_jKlMnOp&amp;cuid=12"
DETOUR = f"https://disq.us/url?url={SIGNED.format(2)}"
CASES = {
    f'<p>See <a href="{DETOUR}" title="x">https://t.example/a_(b)...</a></p>': "See https://t.example/a_(b)?q=1&c:2",
    f'<a href="{DETOUR}">t.example/a_…</a> <a href="{DETOUR}">the <b>page</b></a>': (
        "https://t.example/a_(b)?q=1&c:2 [the **page**](<https://t.example/a_(b)?q=1&c:2>)"
    ),
    f"<p>{DETOUR}, {DETOUR.replace('disq.us', 'redirect.disqus.com')}.</p>": (
        "https://t.example/a_(b)?q=1&c:2, https://t.example/a_(b)?q=1&c:2."
    ),
    '<img src="https://c.disquscdn.com/get?url=https%3A%2F%2Fi.example%2Fa%3A1&amp;key=k">': "https://i.example/a:1",
    '<a href="https://disq.us/url?url=javascript%3Aalert(1)%3AAbC-EfGh_jKlMnOp">x</a> https://disq.us/p/1': (
        "[x](<https://disq.us/url?url=javascript%3Aalert(1)%3AAbC-EfGh_jKlMnOp>) https://disq.us/p/1"
    ),
    '<a href="https://t.example/a.">https://t.example/a.</a>': "[https://t.example/a.](<https://t.example/a.>)",
    '<a href="https://t.example/ab">see t...</a>': "[see t...](<https://t.example/ab>)",
    f"<p>a {LONG_REFERENCE}</p>": "a \ufffd",
    f'<b>a</b><a href="{LONG_REFERENCE}">{LONG_REFERENCE}</a>': "**a**\ufffd",
    "&#0000000000000065;": "A",
    "<p>One</p><p>Two\n three</p>": "One\n\nTwo three",
    "One<br>Two<br/><br/>Three": "One\nTwo\n\nThree",
    "<b>bold</b>, <strong>strong</strong>, <i>i</i>, <em>em</em>": "**bold**, **strong**, *i*, *em*",
    "<del>gone</del> <s>too</s>": "~~gone~~ ~~too~~",
    "a<b> b </b>c": "a **b** c",
    "<code>a`b</code> and <code>x  y</code>": "``a`b`` and `x y`",
    "<pre><code>if a &lt; b:\n    *c*</code></pre>": "```\nif a < b:\n    *c*\n```",
    "<pre>a\n```\nb</pre>": "````\na\n```\nb\n````",
    "<blockquote><p>a</p><p>b</p></blockquote>c": "> a\n>\n> b\n\nc",
    "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>": "- a\n  - b\n- c",
    '<ol start="3"><li>a</li><li>b</li></ol>': "3. a\n4. b",
    "<h2>Head</h2>text": "**Head**\n\ntext",
    '<a href="https://a.example/(x)">there</a>': "[there](<https://a.example/(x)>)",
    '<a href="https://a.example/">https://a.example/</a>': "https://a.example/",
    '<a href="mailto:a@b.example">mail</a>': "[mail](<mailto:a@b.example>)",
    '<a href="javascript:alert(1)" onclick="x()">text</a>': "text",
    '<a href="/path">text</a>': "text",
    '<img src="https://a.example/x.png" alt="a fox">!': "[a fox](<https://a.example/x.png>)!",
    '<img src="data:image/svg+xml,<svg onload=alert(1)>">text': "text",
    '<img src="https://a.example/x.png">': "https://a.example/x.png",
    'Wow!<a href="https://a.example/">x</a>': "Wow\\![x](<https://a.example/>)",
    "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>": "a | b\nc",
    "<script>alert(1)</script>a<style>*{}</style><iframe src='https://a.example'>b</iframe>": "a",
    "a<!-- hidden -->b": "ab",
    "a &lt;b&gt; &amp;amp; &copy;": "a <b> &amp; ©",
    "R&#D, &#x, &a;, &amp, &copyb, <b>b</b> &#99; and AT&T": "R&#D, &#x, &a;, &, ©b, **b** c and AT&T",
    '<a href="https://a.example/?b&amp;c=%22&#x26;d">AT&T</a>': "[AT&T](<https://a.example/?b&c=%22&d>)",
    "1. a": "1\\. a",
    "- a": "\\- a",
    "&gt; a": "\\> a",
    "*a* _b_ a_b `c` [d](e)": "\\*a\\* \\_b\\_ a_b \\`c\\` \\[d\\](e)",
    "See https://a.example/a_b_c*d and *e*": "See https://a.example/a_b_c*d and \\*e\\*",
}


@pytest.mark.parametrize("html", CASES)
def test_elements_become_the_marks_of_posts(html: str) -> None:
    assert html_to_markdown(html) == CASES[html]


@pytest.mark.parametrize(
    "html", ["1<b>. a</b>", "<i>a</i><i>b</i>", '<b>"a"</b>b', "<b>a<p>b</p></b>", "-<b> a</b>", "<code>`</code>`"]
)
def test_marks_that_would_not_be_read_as_such_are_left_out(html: str) -> None:
    assert words(to_plain(html_to_markdown(html))) == words(re.sub("<[^>]*>", "", html))


def test_markdown_has_the_targets_of_links_too() -> None:
    address, target = unescape(DETOUR), "https://t.example/a_%28b%29?q=1&c:2"
    text = f"[a]({address}) <{address}>, {address}. https://disq.us/url?x=1"
    assert without_detours(text) == f"[a]({target}) <{target}>, {target}. https://disq.us/url?x=1"
    inner = f"https://disq.us/url?url={quote(address, safe='')}%3AAbC-EfGh_jKlMnOp"
    assert without_detours(inner) == target


def test_blank_lines_part_paragraphs_of_texts_without_elements() -> None:
    text = "One\r\ntwo\r\n\r\n\r\n<b>Three</b>\nfour <pre>a\n\n\nb</pre>"
    markdown = html_to_markdown(text, has_line_breaks=True)
    assert markdown == "One\ntwo\n\n**Three**\nfour\n\n```\na\n\n\nb\n```"
    assert html_to_markdown("One\n two\n\n\nthree", has_line_breaks=True) == "One\ntwo\n\nthree"


def test_of_a_long_text_the_begin_stays_and_an_ellipsis_says_so() -> None:
    markdown = html_to_markdown("<p>" + "word " * HTML_MAX)
    assert markdown.endswith("…")
    assert HTML_MAX // 2 < len(markdown) <= HTML_MAX + 1


def words(text: str) -> str:
    return "".join(text.split())


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


TAGS = re.findall("[a-z0-9]+", "b i em p div code pre ul ol li blockquote br a h1 del table td")
TEXT = st.text(alphabet="ab1 .*_`~[]()!>-+#\\\n&é中", max_size=12)
PIECE = st.one_of(
    TEXT,
    st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]),
    st.sampled_from(
        ['<a href="https://a.example/">', "https://a.example/b", "&amp;", "&lt;", "&#42;", "&copy", "&#", "<!-- -->"]
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECE, max_size=14).map("".join), st.booleans())
@example("1<b>. a</b>", False)
@example("R&#D <b>a</b> &#x <i>b</i>", False)
def test_the_words_of_any_html_are_shown(html: str, has_line_breaks: bool) -> None:
    parser = _Texts()
    parser.feed(html)
    parser.close()
    shown = to_plain(html_to_markdown(html, has_line_breaks=has_line_breaks))
    assert re.sub(r"[\s|~]", "", shown) == re.sub(r"[\s|~]", "", "".join(parser.texts))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60) | st.text(alphabet="<>/!?-[]&#;x\"'= abp\x00\r\n", max_size=60), st.booleans())
@example("<![", False)
@example("<!DOCTYPE <", False)
@example("&#xfffffffffffffff;", False)
def test_no_text_raises_an_error(html: str, has_line_breaks: bool) -> None:
    to_html(html_to_markdown(html, has_line_breaks=has_line_breaks))


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="ab1 .*_`~[]()!>-+#\\\n:/htps", max_size=40))
def test_escaped_text_shows_as_it_is(text: str) -> None:
    assert words(to_plain(escape(text))) == words(text)


LONG = (
    *("<!--", "<?", "<!", "<a", '<a b="', "</a", "<div>", "<b><i></b>", "&#", "<![CDATA[", "<script>", "<li>", "<td>"),
    *("<ol><li>", "<q>x</q> ", "<pre>", "*", "_", "`", "[", "](", "http://", "https://a.b/", "> ", "- ", "\\"),
)


@pytest.mark.slow
@pytest.mark.parametrize("piece", LONG)
def test_the_time_grows_with_the_length_and_not_with_its_square(piece: str) -> None:
    """Four times the length: four times the time, or sixteen times. A short time says nothing."""

    def is_linear() -> bool:
        short, long = (processor_seconds(piece * (size // len(piece))) for size in (10_000, 40_000))
        return long < max(0.15, 9 * short)

    assert any(is_linear() for _ in range(ATTEMPTS))


def processor_seconds(html: str) -> float:
    began = process_time()
    html_to_markdown(html)
    html_to_markdown(f"{html}>-->")
    return process_time() - began
