"""Logging to stderr, with the id of the request. Credentials are hidden in the formatted line, which includes arguments
and traceback.
"""

import logging
import re

_CREDENTIALS = (
    # An agent token. Its public prefix (12 characters) is too short to match.
    (re.compile(r"\bcag_[0-9A-Za-z]{9,}"), "cag_[hidden]"),
    # A JSON web token.
    (re.compile(r"\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?"), "[hidden]"),
    (re.compile(r"\b(Bearer|Basic)(\s+|%20)[^\s'\",;]+", re.IGNORECASE), r"\1 [hidden]"),
)


def hide_credentials(text: str) -> str:
    for pattern, replacement in _CREDENTIALS:
        text = pattern.sub(replacement, text)
    return text


class HidingFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return hide_credentials(super().format(record))


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "config.logging.HidingFormatter",
            "format": "{asctime} {levelname} {request_id} {name}: {message}",
            "style": "{",
        },
    },
    "filters": {"request_id": {"()": "config.request_ids.RequestIdFilter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["request_id"]}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # Django's own handlers would mail tracebacks and print unformatted lines.
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
        # If each refusal were logged, any client could fill the disk.
        "django.request": {"level": "ERROR"},
        "django.security": {"level": "CRITICAL"},
        # A line for each call of an MCP tool.
        "django_mcpz.calls": {"level": "WARNING"},
    },
}
