import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env


@pytest.fixture
def variable(monkeypatch):
    return lambda value: monkeypatch.setenv("A_SETTING", value)


@pytest.mark.parametrize(("written", "read"), [("1", True), ("Yes", True), ("off", False), ("", True), (" 0 ", False)])
def test_flag(variable, written, read):
    variable(written)
    assert env.flag("A_SETTING", default=True) is read
