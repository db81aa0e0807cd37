"""The worst texts that the hunt of `make fuzz` has found, and the hunt itself."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz import slow
from tests.fuzz.slow import TARGETS, Target, hunt, problem, worst_found


@pytest.mark.slow
def test_the_worst_texts_cost_as_their_length_says() -> None:
    assert [
        wrong for name, parts in worst_found().items() for part in parts[:2] if (wrong := problem(name, part))
    ] == []
    assert worst_found().keys() == TARGETS.keys()


def test_the_hunt_finds_a_quadratic_text_and_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def quadratic(text: str) -> Any:
        return [text.count("a") for _ in range(text.count("a"))]

    monkeypatch.setattr(slow, "FILE", tmp_path / "slowest.json")
    monkeypatch.setattr(slow, "TARGETS", {"here": Target(quadratic, 4_000), "other": Target(len)})
    worst = hunt(count=60, seed=1)
    assert worst["here"][0].part.count("a") > 0
    assert problem("here", worst["here"][0].part)
    assert problem("other", worst["other"][0].part) is None
    assert json.loads((tmp_path / "slowest.json").read_text())["here"] == [found.part for found in worst["here"]]


@pytest.mark.slow
def test_a_hunt_finds_no_text_that_costs_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make fuzz` sets EFFORT: a long hunt, whose worst texts stay in the repository."""
    effort, file = int(os.environ.get("EFFORT", "0")), slow.FILE
    if not effort:
        monkeypatch.setattr(slow, "FILE", tmp_path / file.name)
        slow.FILE.write_bytes(file.read_bytes())
    worst = hunt(count=5 + 50 * effort, seed=random.randrange(2**32))
    problems = [problem(name, found.part) for name, all_found in worst.items() for found in all_found[:2]]
    assert [wrong for wrong in problems if wrong] == []
