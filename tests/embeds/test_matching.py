"""Domain lists and page rules: the case tables, which the loader's tests use too, and properties."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embeds import domains
from embeds.domains import InvalidDomain, host_of_origin, host_of_url, is_allowed, normalize_entry
from embeds.path_patterns import explain, matches

DATA = Path(__file__).parent / "data"


def cases(name: str) -> list[dict[str, Any]]:
    return list(json.loads((DATA / f"{name}.json").read_text()))


def test_case_tables_have_their_minimum_length() -> None:
    assert len(cases("domains")) >= 40
    assert len(cases("path_patterns")) >= 30
    assert len(cases("page_rules")) >= 10


def test_domain_lists_match_the_case_table_and_are_explained_alike() -> None:
    for case in cases("domains"):
        whitelist, blacklist = ([normalize_entry(entry) for entry in case[key]] for key in ("whitelist", "blacklist"))
        lists = {"whitelist": whitelist, "blacklist": blacklist}
        assert is_allowed(case["host"], **lists) is case["allowed"], case["why"]
        verdict = domains.explain(case["host"], **lists)
        assert verdict.is_allowed is case["allowed"], case["why"]
        assert verdict.entry is None or verdict.entry in whitelist + blacklist, case["why"]


def test_patterns_match_the_case_table() -> None:
    for case in cases("path_patterns"):
        assert matches(case["pattern"], case["path"]) is case["matches"], case["why"]


def test_page_rules_match_the_case_table() -> None:
    for case in cases("page_rules"):
        rules = {"type": case["type"], "patterns": case["patterns"]}
        assert explain(rules, case["path"]).is_shown is case["shown"], case["why"]


def test_entries_have_one_canonical_form() -> None:
    for text, entry in [
        ("Example.COM.", "example.com"),
        ("*.Bücher.example:0443", "*.xn--bcher-kva.example:443"),
        ("localhost:3000", "localhost:3000"),
        ("localhost:1", "localhost:1"),
        ("localhost:65535", "localhost:65535"),
        ("[2001:DB8::1]:80", "[2001:db8::1]:80"),
        ("0x7f.1", "127.0.0.1"),
    ]:
        assert normalize_entry(text) == entry, (text, entry)
        assert normalize_entry(entry) == entry, (text, entry)


def test_text_that_is_not_a_host_is_refused() -> None:
    for text in [
        "",
        ".",
        "*",
        "*.",
        "*.*.example.com",
        "ex*mple.com",
        "https://example.com",
        "example.com/",
        "example.com?x",
        "user@example.com",
        "a%41.com",
        "exam ple.com",
        "example.com\t",
        "a..b",
        ".example.com",
        "::1",
        "example.com:0",
        "example.com:65536",
        "example.com:8a",
        "example.com:",
        "example.com:８０",
        "a" * 64 + "." + "b" * 200,
        "\\example.com",
        *(
            "a.com,b.com",
            "a.com;script-src",
            "a.com'x",
            "'self'",
            "$",
            "a.com&b",
            "a=b",
            "(a)",
            "a~b",
            "a!b",
            "a+b",
            "{a}",
        ),
        *('a"b.com', "a`b", "a.com;", "*.a.com,b.com", "a;b:80", "*.[::1]", "[::1]x", "[::1];x"),
    ]:
        with pytest.raises(InvalidDomain):
            normalize_entry(text)


def test_host_of_origin_is_null_unless_it_is_http() -> None:
    for origin, host in [
        ("https://example.com", "example.com"),
        ("HTTP://example.com:8080", "example.com:8080"),
        ("null", "null"),
        ("", "null"),
        ("file://", "null"),
        ("chrome-extension://abcdef", "null"),
    ]:
        assert host_of_origin(origin) == host, (origin, host)


def test_host_of_url_is_in_canonical_form() -> None:
    assert host_of_url("https://me:secret@WWW.Example.com:8443/x?y#z") == "www.example.com:8443"
    assert host_of_url("https://example.com:443/") == "example.com"
    assert host_of_url("nonsense") == "null"


@given(st.text(max_size=400))
def test_any_text_is_allowed_or_refused_without_an_error(text: str) -> None:
    assert is_allowed(text, whitelist=["example.com"], blacklist=[]) in {True, False}
    assert is_allowed(f"{text}.evil.net", whitelist=["example.com", "*.example.com"], blacklist=[]) is False


def naive(pattern: str, path: str) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "*":
        return any(naive(pattern[1:], path[at:]) for at in range(len(path) + 1))
    return bool(path) and path[0] == pattern[0] and naive(pattern[1:], path[1:])


@given(st.text("ab*", max_size=8), st.text("ab*", max_size=10))
def test_patterns_match_as_the_recursive_definition(pattern: str, path: str) -> None:
    assert matches(pattern, path) == naive(pattern, path)


def test_no_pattern_backtracks() -> None:
    """Each piece between stars is searched once, from the end of the previous match."""
    for pattern, expected in [
        ("*a" * 50, True),
        ("*a" * 50 + "b", False),
        ("*" + "a" * 255 + "b*", False),
        ("*a" * 255 + "*b*", False),
    ]:
        path = CountedText("a" * 2_048)
        assert matches(pattern, path) is expected, (pattern, expected)
        assert path.searches <= pattern.count("*"), (pattern, expected)
        assert path.searched <= len(path) + len(pattern), (pattern, expected)


class CountedText(str):
    """Counts the searches in it, and the characters that they pass."""

    searches = searched = 0

    def find(self, piece: str, *bounds: Any) -> int:  # type: ignore[override]
        found = super().find(piece, *bounds)
        self.searches += 1
        self.searched += (bounds[1] if found < 0 else found) - bounds[0]
        return found
