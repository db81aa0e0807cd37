"""Refuses `dryRun` on the writes that have no dry run: they would write what the client means to check."""

from __future__ import annotations

from functools import cache

from django.http import HttpRequest

from kernel.api.exceptions import InvalidParameter
from kernel.api.operations import Operation, all_operations

PARAMETER = "dryRun"
FOLDED = PARAMETER.casefold()
SEPARATORS = str.maketrans("", "", "_-")


def refuse_unknown_dry_run(request: HttpRequest, operation: Operation) -> None:
    """Raises InvalidParameter (400) for `dryRun` on an operation without one, and for any other spelling of it."""
    if not request.META.get("QUERY_STRING") or not (operation.is_write or operation.is_gateway):
        return
    for name in request.GET:
        if name.translate(SEPARATORS).casefold() != FOLDED:
            continue
        if not operation.has_dry_run:
            raise InvalidParameter(f"Send no `{PARAMETER}`: {_with_dry_run()} has a dry run.", field=PARAMETER)
        if name != PARAMETER:
            raise InvalidParameter(f"Spell the parameter `{PARAMETER}`: only this one is a dry run.", field=PARAMETER)


@cache
def _with_dry_run() -> str:
    """The operations that have one, such as `only createMessage (POST /api/messages)`."""
    found = [
        f"{operation.id} ({method} /{path})" for path, method, operation in all_operations() if operation.has_dry_run
    ]
    return f"only {' or '.join(found)}"
