"""The command `cm`."""

from __future__ import annotations

import sys

# Each adds its commands to the program.
from community_messaging.cli import account, agents, bridge, reading, writing  # noqa: F401
from community_messaging.cli.app import program


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character shows its number.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    program(prog_name="cm")
