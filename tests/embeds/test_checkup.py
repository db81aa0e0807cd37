"""Why a widget shows on a page or not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embeds import domains, path_patterns
from embeds.checkup import NoAddress, PageVerdict, Reason, check_page, parts_of
from embeds.models import Embed

BLOG = {"type": "patterns", "patterns": ["/news/*", "/blog/*"]}
NO_CART = {"type": "exclude", "patterns": ["/cart*"]}


def embed(**fields: Any) -> Embed:
    return Embed(**fields)


def test_the_verdict_names_the_rule_that_decides() -> None:
    for fields, address, verdict in [
        ({}, "https://site.example", (True, Reason.ALL_PAGES, "site.example", "/")),
        ({"status": "paused"}, "https://site.example/", (False, Reason.PAUSED, "site.example", "/")),
        ({"status": "disabled"}, "https://site.example/", (False, Reason.DISABLED, "site.example", "/")),
        (
            {"domain_whitelist": ["other.example"]},
            "https://site.example/x",
            (False, Reason.NOT_WHITELISTED, "site.example", "/x"),
        ),
        (
            {"domain_blacklist": ["*.example"]},
            "https://site.example/x",
            (False, Reason.BLACKLISTED, "site.example", "/x", "*.example"),
        ),
        (
            {"page_rules": BLOG},
            "http://www.site.example:8080/blog/x?y#z",
            (True, Reason.MATCHES, "www.site.example:8080", "/blog/x", "/blog/*", 2),
        ),
        ({"page_rules": BLOG}, "https://site.example/about", (False, Reason.NO_PATTERN, "site.example", "/about")),
        (
            {"page_rules": NO_CART},
            "https://site.example/cart/1",
            (False, Reason.EXCLUDED, "site.example", "/cart/1", "/cart*", 1),
        ),
        ({"page_rules": NO_CART}, "https://site.example/a", (True, Reason.NOT_EXCLUDED, "site.example", "/a")),
    ]:
        assert check_page(embed(**fields), address) == PageVerdict(*verdict), (fields, address, verdict)


def test_text_that_is_not_the_address_of_a_page_is_refused() -> None:
    for address in ["", "site.example", "/blog", "ftp://site.example/", "https://", "mailto:a@b.example", "a" * 3_000]:
        with pytest.raises(NoAddress):
            check_page(embed(), address)


@given(st.text(max_size=200))
def test_any_text_has_a_verdict_or_is_refused(text: str) -> None:
    for address in (text, f"https://site.example/{text}", f"https://{text}/"):
        try:
            host, path = parts_of(address)
        except NoAddress:
            continue
        assert domains.is_host(host)
        assert path.startswith("/")


@given(
    st.sampled_from(["all", "patterns", "exclude"]), st.lists(st.text("/ab*", max_size=5)), st.text("/ab", max_size=5)
)
def test_the_explanation_of_page_rules_names_the_first_pattern_that_matches(
    kind: str, patterns: list[str], path: str
) -> None:
    rules = {"type": kind, "patterns": patterns}
    verdict = path_patterns.explain(rules, path)
    matching = [number for number, pattern in enumerate(patterns, 1) if path_patterns.matches(pattern, path)]
    expected = matching[0] if matching and kind != "all" else None
    assert verdict.number == expected
    assert verdict.is_shown is (kind == "all" or (kind == "patterns") == bool(expected))
    assert verdict.pattern == (patterns[expected - 1] if expected else None)
