"""Checks a printed command without running it: its target, module, arguments and files."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from community_messaging.cli.app import program as client
from django.core.management import get_commands, load_command_class

from tests.documents.reading import words
from tests.service import ROOT

PYTHON = ".venv/bin/python"
SERVICE = "http://127.0.0.1:8000"
# The placeholder of the origin of streams.
STREAMS = "STREAM_URL/"
# Programs that need another machine or root.
ELSEWHERE = frozenset({"apt-get", "nginx"})
ASSIGNMENT = re.compile(r"([A-Z][A-Z_]*)=(.*)", re.DOTALL)
REPOSITORY_PATH = re.compile(r"(?:clients|config|messaging|agents|reactions|embeds|tests|docs|deploy)/[\w./-]+")


def check_command(command: str) -> set[str]:
    """Fail unless the command can be run in the root of the repository. Return its targets of `make`."""
    program, *arguments = _without_assignments(words(command))
    _check_paths(arguments)
    match program:
        case "make":
            return check_make(arguments)
        case "curl":
            assert any(word.startswith((SERVICE, STREAMS)) for word in arguments), f"curl calls another host: {command}"
        case "manage.py":
            check_manage(arguments)
        case "cm":
            check_client(arguments)
        case _ if program == PYTHON:
            check_python(arguments)
        case _ if "/" in program:
            assert list(ROOT.glob(program)), f"no such program: {program}"
        case _:
            assert program in ELSEWHERE, f"an unknown program: {program}"
    return set()


def is_run_by_a_test(command: str) -> bool:
    """Whether `DocumentRunner` runs the command: curl, the client and management commands."""
    program, *arguments = _without_assignments(words(command))
    return program in ("curl", "cm") or (program == PYTHON and arguments[:1] == ["manage.py"])


def check_make(arguments: Sequence[str]) -> set[str]:
    variables = {found[1]: found[2] for word in arguments if (found := ASSIGNMENT.fullmatch(word))}
    makefile = (ROOT / "Makefile").read_text()
    assert [name for name in variables if f"$({name})" not in makefile] == [], "the Makefile reads no such variable"
    for value in variables.values():
        _check_paths(value.split())
    return {word for word in arguments if not ASSIGNMENT.fullmatch(word)}


def check_make_targets(targets: set[str]) -> None:
    """make --dry-run fails for an unknown target. With PYTHON, it looks for no Python."""
    command = ["make", "--dry-run", f"PYTHON={sys.executable}", *sorted(targets)]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


def check_manage(arguments: Sequence[str]) -> None:
    name, *rest = arguments
    assert name in get_commands(), f"no such management command: {name}"
    command = load_command_class(get_commands()[name], name)
    # Raises CommandError for an argument that the command does not take.
    command.create_parser("manage.py", name).parse_args(rest)


def check_client(arguments: Sequence[str]) -> None:
    assert set(arguments) & client.commands.keys(), f"no such command of cm: {arguments}"


def check_python(arguments: Sequence[str]) -> None:
    match arguments:
        case ["manage.py", *rest]:
            check_manage(rest)
        case ["-m", module, *_]:
            assert _has_module(module), f"no such module: {module}"
        case _:
            raise AssertionError(f"neither manage.py nor a module: {arguments}")


def _has_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _check_paths(arguments: Sequence[str]) -> None:
    missing = [word for word in arguments if REPOSITORY_PATH.fullmatch(word) and not (ROOT / word).exists()]
    assert missing == [], f"no such files: {missing}"


def _without_assignments(command: Sequence[str]) -> list[str]:
    started = next(number for number, word in enumerate(command) if not ASSIGNMENT.fullmatch(word))
    return list(command[started:])
