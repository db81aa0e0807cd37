"""A secret in the file is replaced only while no process of the service knows just the old one."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from config import secrets
from runtime.data_folder import sole_use
from tests.commands.running import refused, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Path:
    """A data folder with its secrets; the environment has none."""
    for name in (*secrets.NAMES, "DATABASE_URL"):
        monkeypatch.delenv(name)
    settings.DATA_DIR = tmp_path
    secrets.make_once(tmp_path)
    return tmp_path


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root may write the files of other users.")
@pytest.mark.parametrize("options", [(), ("--finish",)])
def test_root_does_not_take_the_secrets_of_another_user(data: Path, options: tuple[str, ...]) -> None:
    os.chown(data / "secrets.json", 65534, -1)
    before = (data / "secrets.json").read_text()
    assert "run this as nobody" in refused("rotate_secret", "ROOT_KEY", *options)
    assert (data / "secrets.json").read_text() == before
    assert [path.name for path in data.iterdir()] == ["secrets.json"]


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("name", secrets.NAMES)
def test_a_secret_in_the_file_is_not_replaced_beside_a_running_service(data: Path, name: str) -> None:
    before = (data / "secrets.json").read_text()
    with sole_use(data):
        assert "Stop the service first" in refused("rotate_secret", name)
        assert (data / "secrets.json").read_text() == before
    run("rotate_secret", name)
    after = json.loads((data / "secrets.json").read_text())
    assert {of for of, value in json.loads(before).items() if after[of] != value} == {name}
    with sole_use(data):
        run("rotate_secret", name, "--finish")


@pytest.mark.parametrize("name", secrets.NAMES)
def test_a_secret_of_the_environment_is_printed_with_the_steps_for_one_host_and_for_several(
    name: str, settings: Any
) -> None:
    settings.DATA_DIR = settings.DATA_DIR / "none"
    out, steps = io.StringIO(), io.StringIO()
    call_command("rotate_secret", name, stdout=out, stderr=steps)
    new, old = out.getvalue().splitlines()
    assert new.startswith(f"{name}=")
    assert old == f"{name}_PREVIOUS={getattr(settings, name)}"
    assert f"give each of them the new {name} as {name}_PREVIOUS" in steps.getvalue()
    assert "--finish" not in steps.getvalue()
    assert f"Take {name}_PREVIOUS out of the environment of each host" in refused("rotate_secret", name, "--finish")
