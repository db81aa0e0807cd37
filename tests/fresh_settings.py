"""The settings as a new process reads them."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Mapping
from typing import Any

import pytest

import config.settings


def fresh_settings(monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str]) -> dict[str, Any]:
    """Every name of config/settings.py, with these variables of the environment beside the others."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    # A module that was imported before has the values of the former environment.
    for name in [name for name in sys.modules if name.startswith("config.") and name.endswith("_settings")]:
        monkeypatch.delitem(sys.modules, name)
    return runpy.run_path(config.settings.__file__)
