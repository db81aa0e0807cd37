from __future__ import annotations

import pytest

from tests.fresh_settings import fresh_settings

MEGABYTE = 1024 * 1024


@pytest.mark.parametrize(
    ("environment", "megabytes"),
    [
        ({}, 32),
        ({"RESPONSE_CACHE_MEGABYTES": "16"}, 16),
        ({"KEPT_ANSWER_MEGABYTES": "8"}, 8),
        ({"RESPONSE_CACHE_MEGABYTES": "0", "KEPT_ANSWER_MEGABYTES": "8"}, 0),
    ],
)
def test_the_name_of_release_1_0_is_read_if_the_new_one_is_not_set(
    environment: dict[str, str], megabytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RESPONSE_CACHE_MEGABYTES", "KEPT_ANSWER_MEGABYTES"):
        monkeypatch.delenv(name, raising=False)
    assert fresh_settings(monkeypatch, environment)["RESPONSE_CACHE_BYTES"] == megabytes * MEGABYTE
