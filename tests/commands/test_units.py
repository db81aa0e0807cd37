"""The units of deploy/systemd with the settings that their comments name."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.fresh_settings import fresh_settings
from tests.service import ROOT

TEXT = (ROOT / "deploy/systemd/community-messaging-streams.service").read_text()
# The lines of the comment for the file of settings, which the service reads, too.
NAMED = dict(re.findall(r"^#   ([A-Z_]+)=(\S+)$", TEXT, re.MULTILINE))


def of_the_unit() -> dict[str, str]:
    """As systemd makes it: the file overrides the unit, and `env` both."""
    own = [word for line in re.findall(r"^Environment=(.*)$", TEXT, re.MULTILINE) for word in shlex.split(line)]
    command = re.findall(r"^ExecStart=(.*)$", TEXT, re.MULTILINE)[0].split()
    last = [word for word in command if re.fullmatch(r"[A-Z_]+=\S+", word)]
    return dict(word.split("=", 1) for word in own) | NAMED | dict(word.split("=", 1) for word in last)


def test_the_unit_of_the_streams_serves_them_and_the_workers_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert NAMED["STREAMS"] == "0"
    with monkeypatch.context() as patch:
        assert fresh_settings(patch, of_the_unit())["STREAM_URL"] is not None
    workers = fresh_settings(monkeypatch, NAMED)
    assert not workers["STREAMS"]
    assert workers["STREAM_URL"] == NAMED["STREAM_URL"]


def test_a_service_without_streams_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fresh_settings(monkeypatch, {"STREAMS": "0"})["STREAM_URL"] is None
