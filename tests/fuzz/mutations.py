"""Mutates valid requests in one path_to_value or several."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from tests.fuzz.seeds import Input, dump
from tests.fuzz.vocabulary import (
    HEADER_TEXTS,
    HEADERS,
    METHODS,
    ODD_VALUES,
    PATH_BITS,
    QUERY_BITS,
    QUERY_NAMES,
    RAW_BODIES,
    RAW_VALUES,
    TYPES,
)


def mutate(seed: Input, rng: random.Random) -> tuple[str, Input]:
    """(name of the first mutation, mutated request)."""
    first = rng.choice(MUTATIONS)
    mutated = first(seed, rng)
    while rng.random() < 0.25:
        mutated = rng.choice(MUTATIONS)(mutated, rng)
    return first.__name__.replace("_", " "), mutated


def one_value(seed: Input, rng: random.Random) -> Input:
    """Replace a value in the body."""
    try:
        body = json.loads(seed.body or b"{}")
    except (ValueError, RecursionError):
        return seed
    paths = [*_paths(body)]
    if not paths:
        return replace(seed, body=dump(rng.choice(ODD_VALUES)))
    container, key = rng.choice(paths)
    container[key] = rng.choice(ODD_VALUES)
    return replace(seed, body=dump(body))


def raw_value(seed: Input, rng: random.Random) -> Input:
    """Insert invalid JSON before a value."""
    body = seed.body or b'{"url": 1}'
    start = body.find(b":", rng.randrange(len(body)) if body else 0) + 1
    return replace(seed, body=body[:start] + rng.choice(RAW_VALUES) + body[start:])


def whole_body(seed: Input, rng: random.Random) -> Input:
    return replace(seed, body=rng.choice(RAW_BODIES))


def some_bytes(seed: Input, rng: random.Random) -> Input:
    body = bytearray(seed.body or b"{}")
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(body) + 1)
        body[at : at + rng.randint(0, 3)] = rng.randbytes(rng.randint(0, 4))
    return replace(seed, body=bytes(body))


def content_type(seed: Input, rng: random.Random) -> Input:
    return _with_header(seed, "Content-Type", rng.choice(TYPES))


def one_header(seed: Input, rng: random.Random) -> Input:
    return _with_header(seed, rng.choice(HEADERS), rng.choice(HEADER_TEXTS))


def credential(seed: Input, rng: random.Random) -> Input:
    """Damage a valid credential."""
    # An earlier mutation may have emptied it.
    valid = dict(seed.headers).get("Authorization") or "Bearer eyJhbGciOiJIUzI1NiJ9.e30.x"
    at = rng.randrange(len(valid))
    return _with_header(
        seed, "Authorization", valid[:at] + rng.choice("aZ0.-_=~ \x7fé") + valid[at + rng.randint(0, 2) :]
    )


def path(seed: Input, rng: random.Random) -> Input:
    at = rng.randrange(1, len(seed.path) + 1)
    return replace(seed, path=seed.path[:at] + rng.choice(PATH_BITS) + seed.path[at + rng.randint(0, 3) :])


def query(seed: Input, rng: random.Random) -> Input:
    value = quote(str(rng.choice(ODD_VALUES))[:3_000], errors="surrogatepass")
    named = f"{rng.choice(QUERY_NAMES)}={value}"
    return replace(seed, query=rng.choice([named, rng.choice(QUERY_BITS), f"{seed.query}&{named}"]))


def method(seed: Input, rng: random.Random) -> Input:
    return replace(seed, method=rng.choice(METHODS))


MUTATIONS: tuple[Callable[[Input, random.Random], Input], ...] = (
    *(one_value, one_value, one_value, raw_value, whole_body, some_bytes, content_type, one_header, credential, path),
    *(query, method),
)


def _paths(value: Any) -> list[tuple[Any, Any]]:
    if not isinstance(value, (dict, list)):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [(value, key) for key in keys] + [path_to_value for key in keys for path_to_value in _paths(value[key])]


def _with_header(seed: Input, name: str, value: str) -> Input:
    others = tuple(header for header in seed.headers if header[0].lower() != name.lower())
    return replace(seed, headers=(*others, (name, value)))
