"""The wheel contains all that the service needs, and its command runs the service outside of the repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from importlib import util
from pathlib import Path
from types import ModuleType

import psutil
import pytest

from config.version import VERSION
from tests.clients import Clients
from tests.git import git
from tests.remote import Remote
from tests.service import ROOT, Service
from tests.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.slow, pytest.mark.processes]

HOME = "community_messaging_service"
TRACKED = re.compile(
    r"(config|messaging|agents|reactions|embeds|mails|moving|mcp_server|account_area|desk|templates|static|locale|clients/python)/.*"
)


@pytest.fixture(scope="module")
def backend() -> ModuleType:
    specification = util.spec_from_file_location("backend_of_the_wheel", ROOT / "deploy/wheel/backend.py")
    assert specification
    assert specification.loader
    module = util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """Not in pytest's own folder, which each run closes to other users, such as the one of PostgreSQL."""
    with tempfile.TemporaryDirectory(prefix="cm-wheel-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def wheel(home: Path) -> Path:
    """Built by pip, as a user builds it."""
    folder = home / "wheel"
    folder.mkdir()
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--wheel-dir", folder, ROOT]
    subprocess.run(pip, check=True, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, home: Path) -> Path:
    """The command in a new environment, which sees the dependencies of this one."""
    folder = home / "env"
    venv.create(folder, with_pip=False, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--no-index", wheel], check=True)
    return folder / "bin/community-messaging"


def run(command: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DATA_DIR")}
    return subprocess.run(
        [command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_wheel_contains_every_file_of_the_service_and_nothing_else(wheel: Path) -> None:
    tracked = {name for name in git("ls-files").split() if TRACKED.fullmatch(name) and not name.endswith(".po")}
    names = {name.removeprefix(f"{HOME}/") for name in zipfile.ZipFile(wheel).namelist()}
    assert tracked <= names
    assert not {name for name in names if name.startswith(("tests/", ".data", "deploy/"))}
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert tops == {HOME, f"community_messaging-{VERSION}.dist-info"}


def test_the_same_source_gives_the_same_wheel(backend: ModuleType, wheel: Path, tmp_path: Path) -> None:
    again = tmp_path / backend.build_wheel(str(tmp_path))
    assert again.read_bytes() == wheel.read_bytes()


def test_the_source_archive_contains_what_builds_the_wheel(backend: ModuleType, tmp_path: Path) -> None:
    archive = tmp_path / backend.build_sdist(str(tmp_path))
    listed = subprocess.run(["tar", "-tzf", archive], capture_output=True, text=True, check=True).stdout
    for name in ("pyproject.toml", "PKG-INFO", "deploy/wheel/backend.py", "config/settings.py", "README.md"):
        assert f"/{name}\n" in listed


def test_the_command_names_its_commands_and_refuses_others(installed: Path, tmp_path: Path) -> None:
    assert "community-messaging serve" in run(installed, folder=tmp_path).stdout
    assert run(installed, "--version", folder=tmp_path).stdout == f"{VERSION}\n"
    unknown = run(installed, "start", folder=tmp_path)
    assert unknown.returncode == 1
    assert "there is no command 'start'" in unknown.stderr
    assert run(installed, "serve", "--port", "1", folder=tmp_path).returncode == 1


@pytest.fixture
def service(installed: Path, home: Path) -> Iterator[Service]:
    """Started by the installed command, in a folder that is not the repository, with a folder of data beside it."""
    started = Service(home / "its-data", STREAMS="1", WORKERS="1")
    for name in ("SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER", "PYTHONPATH"):
        started.environment.pop(name, None)
    started.environment["DATA_DIR"] = started.data.name
    with started.output.open("wb") as output:
        started.process = subprocess.Popen(
            [installed, "serve"],
            cwd=home,
            env=started.environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield started
    finally:
        started.close()


def test_the_installed_command_serves_and_stops(service: Service, installed: Path, home: Path) -> None:
    service.wait_until_it_runs()
    environment = service.environment
    ready = [installed, "ready"]
    assert eventually(lambda: subprocess.run(ready, env=environment, cwd=home, check=False).returncode == 0)
    assert Remote(service.port).call("GET", "/readyz").status == 200
    assert Remote(service.port).call("GET", "/demo/").status in (200, 404)
    assert Remote(service.port).call("GET", "/account/sign-in/").status == 200
    assert Remote(service.port).call("GET", "/embed/v1.js").status == 200
    clients = Clients(service)
    person = clients.person()
    page_id = clients.page_id("https://example.com/from-a-wheel")
    post = clients.ask("/api/messages", {"pageId": page_id, "content": "From a wheel"}, **person.user)
    assert post["id"]
    done = subprocess.run([installed, "manage", "prune"], cwd=home, env=environment, check=False)
    assert done.returncode == 0
    assert service.process
    modules = " ".join(psutil.Process(service.process.pid).cmdline())
    assert str(ROOT / "manage.py") not in modules
    assert service.process.poll() is None
    service.process.terminate()
    assert service.process.wait(PATIENCE_SECONDS) == 0, service.said()
    assert subprocess.run(ready, env=environment, cwd=home, capture_output=True, check=False).returncode == 1
    assert (service.data / "secrets.json").exists()
    assert not service.cluster.is_running()
