"""Every refusal of the service by its code."""

from __future__ import annotations

from collections.abc import Iterator

from kernel.api.exceptions.base import ApiError


def errors_by_code() -> dict[str, type[ApiError]]:
    """The classes with a code of their own, sorted by status and code; complete when the URLs are loaded."""
    found = {error.default_code: error for error in _subclasses(ApiError) if "default_code" in vars(error)}
    return dict(sorted(found.items(), key=lambda item: (item[1].status_code, item[0])))


def _subclasses(error: type[ApiError]) -> Iterator[type[ApiError]]:
    yield error
    for subclass in error.__subclasses__():
        yield from _subclasses(subclass)
