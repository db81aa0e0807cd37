"""What `make bench-releases` prints, and when it fails."""

from __future__ import annotations

import pytest

from tests.benchmarks.releases import report

# Of another program, which ran during the second round.
OTHER_LOAD = 300.0


@pytest.mark.parametrize(("this", "is_met"), [(100.0, True), (104.0, True), (106.0, False)])
def test_the_round_with_the_least_counts(capsys: pytest.CaptureFixture[str], this: float, is_met: bool) -> None:
    rounds = [
        ({"list": (60.0, 40.0)}, {"list": (this - 40.0 + OTHER_LOAD, 40.0)}),
        ({"list": (60.0 + OTHER_LOAD, 40.0)}, {"list": (this - 40.0, 40.0)}),
    ]
    assert report(rounds, more=5) is is_met
    line = capsys.readouterr().out.splitlines()[1]
    assert f"60 + 40       {this - 40:.0f} + 40" in line
    assert f"{this - 100:+.1f}%" in line
    assert ("FAILS" in line) is not is_met
