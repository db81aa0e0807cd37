"""The file BACKUP_REPORT, which `manage.py backup_report` writes and the metrics read."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from config import env


def read(file: str) -> dict[str, Any] | None:
    """None if there is no report yet, or none that can be read."""
    try:
        return dict(json.loads(Path(file).read_text()))
    except (OSError, TypeError, ValueError):
        return None


def successes() -> dict[str, float]:
    """When the last backup and the last restore drill succeeded, 0 for never; nothing without BACKUP_REPORT."""
    file = env.text("BACKUP_REPORT")
    if not file:
        return {}
    report = read(file) or {}
    moments = {
        "backup": (report.get("backup") or {}).get("at"),
        "restore_drill": (report.get("drill") or {}).get("succeededAt"),
    }
    return {name: datetime.fromisoformat(at).timestamp() if at else 0.0 for name, at in moments.items()}
