"""What a backup prints while it runs."""

from __future__ import annotations

from io import StringIO

import pytest

from runtime.backups import programs


@pytest.mark.parametrize(("seconds", "printed"), [(0.0, "one two "), (60.0, "")])
def test_progress_is_printed_at_most_once_in_some_seconds(
    seconds: float, printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "SECONDS", seconds)
    out = StringIO()
    for progress in (programs.Progress(out), programs.Progress(None)):
        progress("one ")
        progress("two ")
    assert out.getvalue() == printed
