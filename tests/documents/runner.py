"""Runs the commands of a document in order; earlier output fills the placeholders of later commands."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Collection
from typing import Any

from tests.documents.checks import PYTHON, SERVICE, is_run_by_a_test
from tests.documents.reading import Block
from tests.service import ROOT, Service
from tests.waiting import PATIENCE_SECONDS, eventually

PLACEHOLDER = re.compile(r"\b[A-Z]+(?:_[A-Z]+)+\b")
CLIENT = "community_messaging"
ANYTHING = "…"
# A status of 400 or more is a failure. A proxy in the environment is not used.
CURL = "curl --fail-with-body --max-time 120 --noproxy '*'"
# What `cm login` asks for.
PASSWORD = "four plain quiet words\n"
# The status of curl when --max-time is over, with which a document ends a stream.
TIME_IS_UP = 28


class DocumentRunner:
    """Runs one document from the beginning. `values` by placeholder; `output` of the last command."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.values: dict[str, str] = {}
        self.output = ""
        # The process of `tests/documents/prepared.py` listens on it.
        self._socket = service.data.with_name("prepared.sock")
        self._prepared: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        if self._prepared:
            self._prepared.kill()
            self._prepared.wait(PATIENCE_SECONDS)
            self._socket.unlink()

    def _python(self) -> list[str]:
        """A Python that has imported the service and the client."""
        if not self._prepared:
            command = [sys.executable, "-m", "tests.documents.prepared", "serve", str(self._socket)]
            self._prepared = subprocess.Popen(command, cwd=ROOT, env=self._environment)
            assert eventually(self._socket.exists)
        return [sys.executable, "-IS", str(ROOT / "tests/documents/prepared.py"), "run", str(self._socket)]

    def run_block(self, block: Block) -> None:
        """Run a shell block. Compare a `json` or `http` block with the output of the command before it."""
        if block.is_shell:
            for command in filter(is_run_by_a_test, block.commands()):
                self.run_command(command)
        elif block.language == "python" and CLIENT in block.text:
            self.output = self._finished([*self._python(), "-c", self._filled(block.text)]).stdout
        elif block.language == "json":
            self.compare(json.loads(block.text), json.loads(self.output), at="output")
        elif block.language == "http":
            lines = {line.strip().lower() for line in self.output.splitlines()}
            assert {line.lower() for line in block.text.splitlines()} <= lines, self.output

    def run_command(self, command: str) -> None:
        unknown = set(PLACEHOLDER.findall(command)) - self.values.keys()
        assert not unknown or not command.startswith("curl"), f"no earlier output has a value for {unknown}"
        accepted = (0, TIME_IS_UP) if "--max-time" in command else (0,)
        self.output = self._finished(["sh", "-euc", self._adapted(self._filled(command))], accepted).stdout

    def _finished(self, words: list[str], accepted: Collection[int] = (0,)) -> subprocess.CompletedProcess[str]:
        finished = subprocess.run(
            words,
            cwd=ROOT,
            env=self._environment,
            input=PASSWORD,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_SECONDS,
            check=False,
        )
        assert finished.returncode in accepted, f"{words}\n{finished.stdout}{finished.stderr}"
        return finished

    @property
    def _environment(self) -> dict[str, str]:
        """That of the service; the client from its sources, with a folder for its tokens beside the data."""
        return self.service.environment | {
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            "PYTHONPATH": str(ROOT / "clients/python/src"),
            "XDG_CONFIG_HOME": str(self.service.data.with_name("client")),
        }

    def _filled(self, text: str) -> str:
        known = PLACEHOLDER.sub(lambda found: self.values.get(found[0], found[0]), text)
        return known.replace(SERVICE, self.service.base_url)

    def compare(self, expected: Any, actual: Any, *, at: str) -> None:
        """An expected object names some keys of the actual one, also in a list. A new placeholder takes the value."""
        if isinstance(expected, dict):
            assert isinstance(actual, dict), at
            assert expected.keys() <= actual.keys(), f"{at}: {expected.keys() - actual.keys()} are missing"
            for key, value in expected.items():
                self.compare(value, actual[key], at=f"{at}.{key}")
        elif isinstance(expected, list):
            assert isinstance(actual, list), at
            assert len(actual) == len(expected), f"{at}: {actual}"
            for index, value in enumerate(expected):
                self.compare(value, actual[index], at=f"{at}[{index}]")
        elif isinstance(expected, str) and PLACEHOLDER.fullmatch(expected):
            assert self.values.setdefault(expected, str(actual)) == str(actual), at
        elif expected != ANYTHING:
            assert expected == actual, at

    def _adapted(self, command: str) -> str:
        """The command for the service under test. makemigrations gets --dry-run so that it writes no file."""
        if command.startswith("curl"):
            return command.replace("curl", CURL, 1)
        # A new secret is read by new processes.
        python = shlex.quote(sys.executable) if "rotate_secret" in command else shlex.join(self._python())
        if command.startswith("cm "):
            return f"{python} -m {CLIENT} {command.removeprefix('cm ')}"
        harmless = command.replace("manage.py makemigrations", "manage.py makemigrations --dry-run")
        return harmless.replace(PYTHON, python, 1)
