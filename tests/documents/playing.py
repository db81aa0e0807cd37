"""Runs the commands of a document in order, and fills the placeholders of later ones from earlier answers."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from typing import Any

from tests.documents.checks import PYTHON, SERVICE, is_run_by_a_test
from tests.documents.reading import Block
from tests.service import ROOT, Service

PLACEHOLDER = re.compile(r"\b[A-Z]+(?:_[A-Z]+)+\b")
ANYTHING = "…"
# A status of 400 or more is a failure. No proxy of this machine's environment comes between.
CURL = "curl --fail-with-body --max-time 30 --noproxy '*'"
SECONDS = 60


class Player:
    """One reader who runs a document from its beginning. `known`: the values of the placeholders."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.known: dict[str, str] = {}
        self.output = ""

    def play(self, block: Block) -> None:
        """Run a shell block; compare the output of the command before it with a `json` or `http` block."""
        if block.is_shell:
            for command in filter(is_run_by_a_test, block.commands()):
                self.run(command)
        elif block.language == "json":
            self.compare(json.loads(block.text), json.loads(self.output), at="answer")
        elif block.language == "http":
            said = {line.strip().lower() for line in self.output.splitlines()}
            missing = [line for line in block.text.splitlines() if line.lower() not in said]
            assert missing == [], self.output

    def run(self, command: str) -> None:
        unknown = set(PLACEHOLDER.findall(command)) - self.known.keys()
        assert not unknown or not command.startswith("curl"), f"no earlier answer has a value for {unknown}"
        filled = PLACEHOLDER.sub(lambda found: self.known.get(found[0], found[0]), command)
        called = subprocess.run(
            ["sh", "-euc", self._as_here(filled)],
            cwd=ROOT,
            env=self.service.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert called.returncode == 0, f"{filled}\n{called.stdout}{called.stderr}"
        self.output = called.stdout

    def compare(self, shown: Any, given: Any, *, at: str) -> None:
        """A shown object names some keys of the given one. A placeholder takes the value that it has there."""
        if isinstance(shown, dict):
            assert isinstance(given, dict), at
            assert shown.keys() <= given.keys(), f"{at}: {shown.keys() - given.keys()} are missing"
            for key, value in shown.items():
                self.compare(value, given[key], at=f"{at}.{key}")
        elif isinstance(shown, str) and PLACEHOLDER.fullmatch(shown):
            assert self.known.setdefault(shown, str(given)) == str(given), at
        elif shown != ANYTHING:
            assert shown == given, at

    def _as_here(self, command: str) -> str:
        if command.startswith("curl"):
            return command.replace("curl", CURL, 1).replace(SERVICE, self.service.base_url)
        # Without --dry-run it would write a file into the repository.
        harmless = command.replace("manage.py makemigrations", "manage.py makemigrations --dry-run")
        return harmless.replace(PYTHON, shlex.quote(sys.executable), 1)
