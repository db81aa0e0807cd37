"""A progress bar of one line."""

from __future__ import annotations

import sys

WIDTH = 40


def show(what: str, done: int, total: int) -> None:
    """Redraw the bar; the last call ends its line."""
    filled = WIDTH * done // total
    end = "\n" if done >= total else ""
    sys.stderr.write(f"\r{what:<10} [{'#' * filled}{'.' * (WIDTH - filled)}] {done:>9,} of {total:,}{end}")
    sys.stderr.flush()
