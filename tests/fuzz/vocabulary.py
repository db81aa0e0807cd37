"""Invalid and unusual values for mutations."""

from __future__ import annotations

from typing import Any

MADE_UP_ID = "0199f000-0000-7000-8000-000000000000"
LONG = "a" * 70_000
TEXTS = (
    *("", " ", "\x00", "a\x00b", "\ud800", "\udfff\ud800", "\ufeff", "\u202e", "\u200d" * 50, "é" * 161, "💩" * 40),
    *("null", "true", "NaN", "-0", "1e400", "0x10", "１２", "1_000", " 1", "1\n", MADE_UP_ID, MADE_UP_ID.upper()),
    *(
        f"{{{MADE_UP_ID}}}",
        f"urn:uuid:{MADE_UP_ID}",
        "' OR 1=1--",
        "%s%n{0}",
        "{{7*7}}",
        "${jndi:x}",
        "../../etc/passwd",
    ),
    *(
        "<script>alert(1)</script>",
        "http://",
        "http://[",
        "http://a:b@c",
        "javascript:alert(1)",
        "http://\x7f",
        "x:" * 900,
    ),
    *(
        "data:,x",
        "http://xn--a",
        "http://0x7f.1",
        "http://a" + ".b" * 200,
        "*" * 300,
        "a" * 20_001,
        LONG,
        "cag_" + "0" * 46,
    ),
)
NUMBERS = (0, -1, 1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**400, 0.1, -0.0, 1e308, 5e-324, 1e15, 1e16, 1e-7, 1e-22)
ODD_VALUES: tuple[Any, ...] = (None, True, False, [], {}, [[]], {"": ""}, [None], *NUMBERS, *TEXTS)
RAW_VALUES = (
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"01",
    b"+1",
    b"'a'",
    b"[" * 500,
    b'{"a":' * 300,
    b"\xff\xfe",
    b"9" * 5000,
)
RAW_BODIES = (
    *(
        b"",
        b"null",
        b"0",
        b'"x"',
        b"[]",
        b"{",
        b"}",
        b"{}{}",
        b"[1,",
        b"\xef\xbb\xbf{}",
        b"{}\x00",
        b"{'a':1}",
        b"\x00" * 9,
    ),
    *('{"a":1}'.encode("utf-16"), b"\x1f\x8b\x08\x00\x00\x00\x00\x00", b"a=1&b=2", b'{"a":1,"a":2}', b"[" * 100_000),
    *(b'{"a":"' + b"x" * 1_048_570 + b'"}', b'{"a":"' + b"x" * 1_100_000 + b'"}', b"--x\r\n\r\n--x--", b"<a/>"),
    *(
        b"[" + unit * (1_000_000 // len(unit)) + b"1]"
        for unit in (b"[],", b"{},", b"1,", b"1e-7,", b'"",', b'{"a":1},')
    ),
)
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "get", "FOO")
TYPES = (
    *(
        "application/json",
        "application/json; charset=utf-8",
        "application/json; charset=utf-16",
        "text/plain",
        "text/html",
    ),
    *(
        "application/json;;;=",
        "multipart/form-data",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
    ),
    *("", ";", "*/*", "application/json, text/plain", "application/vnd.api+json", "x" * 5_000, "application/xml"),
)
HEADERS = (
    *(
        "Authorization",
        "X-User-Id",
        "Idempotency-Key",
        "X-Service-Embed-Id",
        "Origin",
        "Referer",
        "Accept",
        "Accept-Language",
    ),
    *(
        "If-None-Match",
        "If-Modified-Since",
        "Range",
        "Cookie",
        "X-Forwarded-For",
        "X-Forwarded-Proto",
        "X-Forwarded-Host",
    ),
    *(
        "X-HTTP-Method-Override",
        "Access-Control-Request-Method",
        "Content-Encoding",
        "User-Agent",
        "X-CSRFToken",
        "Via",
    ),
)
HEADER_TEXTS = (
    *(
        "",
        " ",
        "*",
        "null",
        '"',
        'W/"x',
        "Bearer",
        "Bearer ",
        "bearer x",
        "Basic Zm9v",
        "Bearer cag_",
        "Bearer cag_" + "0" * 46,
    ),
    *(
        "Bearer a.b.c",
        "Bearer eyJhbGciOiJub25lIn0.e30.",
        "Bearer " + "x" * 5_000,
        MADE_UP_ID,
        "x" * 161,
        "x" * 3_000,
        "é",
    ),
    *(
        "https://evil.example",
        "http://[::1",
        "127.0.0.1, x",
        "::1",
        "a" * 300 + ", 1.2.3.4",
        "bytes=0-",
        "gzip",
        "sessionid=x",
    ),
    *(
        "DELETE",
        "../..",
        "%00",
        "\t",
        "en;q=9999999999999",
        "de-DE,*;q=0.5",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "-1",
        "0",
    ),
)
PATH_BITS = (
    *("%00", "%", "%g1", "%ff", "%2e%2e", "..", "//", ";a=b", "%2f", "%0d%0a", "é", "%F0%9F%92%A9", "a" * 3_000, " "),
    *(
        "\\",
        "%5c",
        "?",
        "#",
        "%23",
        "%3f",
        "~",
        "*",
        "@",
        ":",
        "%25%30%30",
        "%c0%ae",
        "%ED%A0%80",
        "index.php",
        ".json",
    ),
)
QUERY_NAMES = (
    "pageId",
    "parentId",
    "limit",
    "cursor",
    "includeTopReply",
    "authorKind",
    "communityId",
    "tagType",
    "all",
    "status",
    "from",
    "to",
    "format",
    "serviceId",
    "lang",
    "version",
    "next",
    "",
)
QUERY_BITS = (
    "%",
    "%zz",
    "%00",
    "%ff",
    "&&&",
    "=",
    "a[b]=c",
    "pageId",
    "limit=1&limit=2",
    "+",
    "%ED%A0%80",
    ";",
    "?",
    "x" * 4_000,
)
