from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError


def run(name: str, *arguments: str) -> str:
    """The output of a command."""
    out = StringIO()
    call_command(name, *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def run_json(name: str, *arguments: str) -> Any:
    """The output of a command that prints one JSON object and nothing else."""
    (line,) = run(name, *arguments).splitlines()
    return json.loads(line)


def refused(name: str, *arguments: str) -> str:
    """The error message of a command that refuses its arguments, which is one line."""
    with pytest.raises(CommandError) as refusal:
        run(name, *arguments)
    message = str(refusal.value)
    assert message
    assert "\n" not in message.strip()
    return message
