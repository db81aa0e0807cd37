"""What is logged, and what never is: credentials are hidden in the finished line, arguments and traceback included."""

import logging
import re

_CREDENTIALS = (
    # An agent token; its public prefix (12 characters) is short enough to stay.
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
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        },
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # Its own handlers would mail tracebacks and print unformatted lines.
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
        # A line for each refusal would let anybody fill the disk.
        "django.request": {"level": "ERROR"},
        "django.security": {"level": "CRITICAL"},
    },
}
