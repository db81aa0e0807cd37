from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError


def run(name: str, *arguments: str) -> str:
    """What a command prints."""
    out = StringIO()
    call_command(name, *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def run_json(name: str, *arguments: str) -> Any:
    """The same of a command that prints one JSON object and nothing else."""
    (line,) = run(name, *arguments).splitlines()
    return json.loads(line)


def refused(name: str, *arguments: str) -> str:
    """What a command says that refuses its arguments: one line for a person."""
    with pytest.raises(CommandError) as refusal:
        run(name, *arguments)
    said = str(refusal.value)
    assert said
    assert "\n" not in said.strip()
    return said
