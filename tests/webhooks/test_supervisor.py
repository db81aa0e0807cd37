"""Whether `make run` runs `deliver_webhooks`.

tests/faults/test_webhooks.py kills it while it delivers, and tests/config/test_stop.py stops it with the service.
"""

from __future__ import annotations

import pytest

from runtime.run import programs_beside


@pytest.mark.parametrize(("value", "expected"), [(None, False), ("0", False), ("1", True)])
def test_a_deliverer_runs_with_the_setting(
    monkeypatch: pytest.MonkeyPatch, value: str | None, *, expected: bool
) -> None:
    monkeypatch.delenv("WEBHOOKS", raising=False)
    if value is not None:
        monkeypatch.setenv("WEBHOOKS", value)
    assert (("manage.py", "deliver_webhooks") in programs_beside(None)) == expected
