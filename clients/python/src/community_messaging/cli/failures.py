"""What the program prints of a failure, and the exit code of each."""

from __future__ import annotations

import os
import shlex

import click

from community_messaging.cli.output import clean, echo_json
from community_messaging.errors import ServiceError

REFUSED, NOT_SIGNED_IN, LIMITED, AWAY = 1, 3, 4, 5


def exit_code(error: ServiceError) -> int:
    if error.status == 401:
        return NOT_SIGNED_IN
    if error.status == 429 and error.retry_after is not None:
        return LIMITED
    return AWAY if error.is_unreachable else REFUSED


def report(error: ServiceError, *, is_json: bool) -> None:
    """Print the error to stderr."""
    may_repeat = error.key and _may_succeed(error)
    if is_json:
        known = {"error": error.code, "message": error.message, "status": error.status}
        waiting = {} if error.retry_after is None else {"retryAfter": error.retry_after}
        repeating = {"idempotencyKey": error.key} if may_repeat else {}
        echo_json(known | waiting | error.body | repeating | {"status": error.status}, err=True)
        return
    lines = [f"{error.code}: {error.message}" if error.message else error.code]
    if len(error.details) > 1:  # The message says what a single one says.
        lines += [f"  {detail.get('pointer', '')} {detail.get('message', '')}" for detail in error.details]
    if error.allowed:
        lines.append(f"  allowed: {', '.join(map(str, error.allowed))}")
    if error.retry_after is not None:
        lines.append(f"  Try again in {error.retry_after} seconds.")
    if may_repeat:
        lines.append(f"  Repeat the command with: --key {shlex.quote(str(error.key))}")
    if error.status == 401:
        unset = ", and unset CM_TOKEN, which comes first" if os.environ.get("CM_TOKEN") else ""
        lines.append(f"  Sign in with: cm login{unset}")
    click.echo("\n".join(clean(line, lines=False) for line in lines), err=True)


def _may_succeed(error: ServiceError) -> bool:
    """Whether to repeat the write as it is. Else it is corrected first, and another write needs another key."""
    # No time lifts a limit without seconds, such as that of pending requests.
    is_lasting = error.status == 429 and error.retry_after is None
    return error.is_unreachable or (error.is_passing and not is_lasting)
