from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.urls import get_resolver

from kernel.api.exceptions.base import errors_by_code
from kernel.metrics.wsgi import ACCESS_LINE

# How many lines of the request are printed beside that of the access log.
LINES_MAX = 50
TEXT = re.compile(r"(?P<level>[A-Z]+) (?P<requestId>[A-Za-z0-9._-]+) (?P<logger>[\w.]+): (?P<message>.*)")
ACCESS = ("method", "path", "status", "milliseconds", "operation", "error")
OTHER = ("level", "logger", "message", "traceback")


class Command(BaseCommand):
    help = (
        "Explain a response by its X-Request-ID, from a log in text or JSON: the operation, the code of the refusal "
        "with its cause and remedy, and what else was logged, as one JSON object. It needs the lines of ACCESS_LOG=1."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("request_id", metavar="REQUEST_ID")
        parser.add_argument(
            "--log",
            type=Path,
            metavar="FILE",
            help="default: standard input, such as of journalctl -u community-messaging -o cat",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        request_id, file = options["request_id"], options["log"]
        access: dict[str, Any] = {}
        others: list[dict[str, Any]] = []
        try:
            with file.open(encoding="utf-8", errors="replace") if file else nullcontext(sys.stdin) as log:
                for line in _lines(log, request_id):
                    if "status" in line:
                        access = {name: line[name] for name in ACCESS if name in line}
                    elif len(others) < LINES_MAX:
                        others.append({name: line[name] for name in OTHER if name in line})
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
        if not access and not others:
            raise CommandError(
                f"The log has no line of {request_id}: it is of another host or time, or ACCESS_LOG is 0."
            )
        said = {"requestId": request_id, **access, **_explained(access), "lines": others}
        self.stdout.write(json.dumps(said))


def _lines(log: Iterable[str], request_id: str) -> Iterator[dict[str, Any]]:
    """The lines of the request. journald may have put its own words before each."""
    for line in log:
        if request_id not in line:
            continue
        start = line.find("{")
        found = _json(line[start:]) if start >= 0 else None
        if found is None and (match := TEXT.search(line)):
            found = match.groupdict()
            if access := ACCESS_LINE.fullmatch(found["message"].strip()):
                found |= {name: value for name, value in access.groupdict().items() if value is not None}
                found |= {"status": int(access["status"]), "milliseconds": float(access["milliseconds"])}
        if found is not None and found.get("requestId") == request_id:
            yield found


def _json(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _explained(access: dict[str, Any]) -> dict[str, Any]:
    """Each app declares its refusals when its URLs are loaded."""
    _ = get_resolver().url_patterns
    error = errors_by_code().get(str(access.get("error", "")).partition(":")[0])
    return {} if error is None else {"cause": error.cause, "remedy": error.remedy, "docs": error().docs}
