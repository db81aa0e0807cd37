"""Errors of PostgreSQL for the log. Nothing here needs Django's settings: `manage.py` reports that one is missing."""

from __future__ import annotations


def first_line(error: BaseException) -> str:
    """Errors of PostgreSQL have several lines."""
    return str(error).strip().partition("\n")[0]
