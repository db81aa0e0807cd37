"""Times as short texts."""

from __future__ import annotations


def duration(seconds: int) -> str:
    """`40 s`, `12 min`, `3 h`, `2 days`."""
    for size, name in ((172_800, "days"), (5_400, "h"), (90, "min")):
        if seconds >= size:
            unit = {"days": 86_400, "h": 3_600, "min": 60}[name]
            return f"{round(seconds / unit)} {name}"
    return f"{seconds} s"
