"""Runs `cm`, in this process or as a process of its own, with a folder of its own and no keyring."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from community_messaging.cli.app import program

from tests.service import ROOT

SECONDS = 120
NO_KEYRING = "keyring.backends.fail.Keyring"
DONE, REFUSED, USAGE, NOT_SIGNED_IN, LIMITED, UNREACHABLE = range(6)


@dataclass(frozen=True, slots=True)
class Finished:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)


@dataclass(slots=True)
class Command:
    """`cm` for one user: `home` is the folder of its configuration."""

    home: Path
    url: str | None
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        given = {"XDG_CONFIG_HOME": str(self.home), "PYTHON_KEYRING_BACKEND": NO_KEYRING} | self.variables
        return given | ({"CM_URL": self.url} if self.url else {})

    def __call__(self, *arguments: str, stdin: str | bytes = "") -> Finished:
        result = CliRunner(env=self.environment).invoke(program, arguments, input=stdin, prog_name="cm")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Finished(result.exit_code, result.stdout, result.stderr)

    def process(self, *arguments: str, stdin: bytes = b"") -> Finished:
        finished = subprocess.run(
            self.words(*arguments),
            env=self.process_environment,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=SECONDS,
        )
        return Finished(finished.returncode, finished.stdout.decode(), finished.stderr.decode())

    def words(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "community_messaging", *arguments]

    @property
    def process_environment(self) -> dict[str, str]:
        return os.environ | {"PYTHONPATH": str(ROOT / "clients/python/src")} | self.environment
