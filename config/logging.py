"""Logging to stderr, with the id of the request, as text or as JSON (LOG_FORMAT). Credentials are hidden in the
formatted line, which includes arguments and traceback.
"""

import logging
import re
from datetime import UTC, datetime
from typing import Any

import orjson

from config import env

_CREDENTIALS = (
    # An agent token. Its public prefix (12 characters) is too short to match.
    (re.compile(r"\bcag_[0-9A-Za-z]{9,}"), "cag_[hidden]"),
    # A JSON web token.
    (re.compile(r"\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?"), "[hidden]"),
    # The tokens in the addresses of mails: new passwords, confirmed addresses, mails that are switched off.
    (re.compile(r"(/(?:password/reset/[\w-]+|account/address|unsubscribe/\w+)/)[^/\s?'\"]+"), r"\1[hidden]"),
    (re.compile(r"\b(Bearer|Basic)(\s+|%20)[^\s'\",;]+", re.IGNORECASE), r"\1 [hidden]"),
)


def hide_credentials(text: str) -> str:
    for pattern, replacement in _CREDENTIALS:
        text = pattern.sub(replacement, text)
    return text


class HidingFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return hide_credentials(super().format(record))


class JsonFormatter(logging.Formatter):
    """An object in each line. `extra={"fields": {…}}` of a log call adds fields."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname,
            "logger": record.name,
            "requestId": getattr(record, "request_id", None),
            "message": record.getMessage(),
            "process": record.process,
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = record.stack_info
        fields = getattr(record, "fields", None)
        if isinstance(fields, dict):
            line |= {name: value for name, value in fields.items() if name not in line and value is not None}
        # Before the line is encoded: the end of a credential may be the quote of a string.
        return orjson.dumps(_hidden(line), default=str, option=orjson.OPT_UTC_Z).decode()


def _hidden(line: dict[str, Any]) -> dict[str, Any]:
    return {name: hide_credentials(_valid(value)) if isinstance(value, str) else value for name, value in line.items()}


def _valid(text: str) -> str:
    """Without surrogates, which JSON cannot encode."""
    return text.encode(errors="backslashreplace").decode()


LOG_FORMAT = env.choice("LOG_FORMAT", "text", ("text", "json"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "config.logging.HidingFormatter",
            "format": "{asctime} {levelname} {request_id} {name}: {message}",
            "style": "{",
        },
        "json": {"()": "config.logging.JsonFormatter"},
    },
    "filters": {"request_id": {"()": "kernel.request_ids.RequestIdFilter"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "json" if LOG_FORMAT == "json" else "line",
            "filters": ["request_id"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # Django's own handlers would mail tracebacks and print unformatted lines.
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
        # If each refusal were logged, any client could fill the disk.
        "django.request": {"level": "ERROR"},
        "django.security": {"level": "CRITICAL"},
        # Lines for each job; those that fail are logged by `kernel.jobs`.
        "procrastinate": {"level": "CRITICAL"},
        # A line for each call of an MCP tool.
        "django_mcpz.calls": {"level": "WARNING"},
    },
}
