"""The validation errors of DRF as `details` of a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flat_errors(detail: Any, path: str = "") -> dict[str, list[str]]:
    """DRF's nested messages as {JSON path: [messages]}."""
    if isinstance(detail, Mapping):
        errors: dict[str, list[str]] = {}
        for key, inner in detail.items():
            own = key == "non_field_errors"
            errors |= flat_errors(inner, path if own else _join(path, key))
        return errors
    if isinstance(detail, list) and any(isinstance(item, (Mapping, list)) for item in detail):
        return {key: text for n, item in enumerate(detail) for key, text in flat_errors(item, _join(path, n)).items()}
    return {path or "body": [str(item) for item in (detail if isinstance(detail, list) else [detail])]}


def _join(path: str, key: Any) -> str:
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else str(key)
