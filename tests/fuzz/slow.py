"""Hunts for texts that cost much: changes those that cost most, and stores the worst it has found in `slowest.json`.

A text is a short part, repeated to the greatest length. It is wrong if four times the length costs more than LIMIT
times as much, or if Markdown costs LIMIT times what its budget takes for it (`cost_of`), compared with KNOWN.
"""

from __future__ import annotations

import gc
import json
import random
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from kernel.api.exceptions import ApiError
from messaging.inbox.events import mentioned_handles
from messaging.markdown.html import cost_of, render
from messaging.models.message import CONTENT_MAX
from messaging.pages.page_ids import InvalidUrl, normalize
from messaging.word_lists import compile_words
from tests.markdown.cases import PARTS, REPEATED

FILE = Path(__file__).parent / "slowest.json"
LIMIT, WORST_MAX, PART_MAX = 8, 5, 40
KNOWN = "[a]("
OTHERS = [
    *(
        "@a ",
        "@",
        "＠",
        "%",
        "%C3",
        "../",
        "/",
        "?",
        "&",
        "=",
        "+",
        ";",
        "é",
        "\u0301",
        "ﷺ",
        "ａ",
        "字",
        "한",
        "ไ",
        "ב\u05b4",
    ),
    *("\u200d", "👩\u200d🚀", "ß", "İ", "{}", "cas", "ino ", "c a s i n o "),
]
WORDS = ("casino", "cas*", "c a s i n o", *("a b " * n + "c" for n in range(1, 12)))


class Target(NamedTuple):
    """`prepare` makes the input from a part and a length."""

    call: Callable[[str], Any]
    length: int = CONTENT_MAX
    start: str = ""
    budget: Callable[[str], float] = lambda _text: 1


TARGETS = {
    "markdown": Target(render),
    "markdown by its budget": Target(render, budget=lambda text: cost_of(text) + len(text) / 10),
    "mentions": Target(mentioned_handles),
    "word list": Target(lambda text: compile_words(WORDS).matches(text)),
    "address": Target(normalize, 2_048, "https://example.com/"),
}


class Found(NamedTuple):
    part: str
    score: float


def hunt(*, count: int, seed: int) -> dict[str, list[Found]]:
    """The worst of each target after `count` attempts, which are stored for the next hunt; the slowest first."""
    rng = random.Random(seed)
    worst: dict[str, list[Found]] = {}
    for name, target in TARGETS.items():
        pool = {
            part: score(target, part) for part in {*worst_found().get(name, ()), *rng.sample([*PARTS, *REPEATED], 12)}
        }
        for _ in range(count):
            best = sorted(pool, key=lambda part: pool[part], reverse=True)[: 2 * WORST_MAX]
            if (part := _changed(rng, best)) and part not in pool:
                pool[part] = score(target, part)
        best = sorted(pool, key=lambda part: pool[part], reverse=True)[: 2 * WORST_MAX]
        found = [Found(part, min(score(target, part) for _ in range(3))) for part in best]
        worst[name] = sorted(found, key=lambda each: each.score, reverse=True)[:WORST_MAX]
    _keep({name: [each.part for each in found] for name, found in worst.items()})
    return worst


def worst_found() -> dict[str, list[str]]:
    parts: dict[str, list[str]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return parts


def _keep(parts: dict[str, list[str]]) -> None:
    FILE.write_text(json.dumps(parts, ensure_ascii=True, indent=1) + "\n", encoding="utf-8")


def _changed(rng: random.Random, best: list[str]) -> str:
    part, place = rng.choice(best), rng.randrange(PART_MAX)
    other = rng.choice([rng.choice(best), rng.choice(PARTS), rng.choice(OTHERS)])
    change = rng.choice(["insert", "remove", "replace", "repeat"])
    if change == "remove":
        return part[:place] + part[place + 1 :]
    if change == "repeat":
        return (part * 2)[:PART_MAX]
    return (part[:place] + other + part[place + (change == "replace") :])[:PART_MAX]


def score(target: Target, part: str, length: int | None = None) -> float:
    """The seconds of processor time for a text, by what its budget takes for it."""
    text = (target.start + part * target.length)[: length or target.length]
    gc.disable()
    try:
        began = time.process_time()
        with suppress(ApiError, InvalidUrl, ValueError):
            target.call(text)
        return (time.process_time() - began) / target.budget(text)
    finally:
        gc.enable()


def problem(name: str, part: str) -> str | None:
    """What is wrong with a text, in the best of three attempts."""
    target = TARGETS[name]
    whole, quarter = (
        min(score(target, part, length) for _ in range(3)) for length in (target.length, target.length // 4)
    )
    if name == "markdown by its budget":
        quarter = min(score(target, KNOWN) for _ in range(3))
    return f"{part!a} costs {whole / quarter:.1f} times as much" if whole > LIMIT * quarter else None
