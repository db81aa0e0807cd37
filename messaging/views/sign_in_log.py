"""Adds the sign-ins by the API, which the window of the widget uses too, to the log of sign-ins."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus

from django.http import HttpRequest

from kernel.api.addresses import truncated_network
from kernel.api.responses import Response
from messaging.exceptions import InvalidCredentials, InvalidSecondFactor, SecondFactorRequired
from messaging.models import Door, Factor
from messaging.panel_cookie import is_of_panel
from messaging.services.second_factor import has_second_factor
from messaging.services.sign_ins import log_first_factor, log_sign_in, person_named


def log_after(response: Response, request: HttpRequest, handle: str, has_code: bool) -> None:
    """Log the sign-in that the response answers, when it has been sent: so its time says nothing about the handle."""
    network = truncated_network(request)
    door = Door.WIDGET if is_of_panel(request) else Door.API
    if isinstance(response.error, SecondFactorRequired):
        _when_closed(response, partial(_log_first_factor, handle, network=network, door=door))
        return
    is_code_wrong = isinstance(response.error, InvalidSecondFactor)
    refused = is_code_wrong or isinstance(response.error, InvalidCredentials)
    if not refused and response.status_code >= HTTPStatus.BAD_REQUEST:
        return
    second = Factor.CODE if has_code and (is_code_wrong or not refused) else ""
    _when_closed(response, partial(_log, handle, network=network, door=door, second=second, refused=refused))


def _when_closed(response: Response, log: Callable[[], None]) -> None:
    # Django calls these functions when the server closes the response, and has no public name for the list.
    response._resource_closers.append(log)  # type: ignore[attr-defined]


def _log_first_factor(handle: str, *, network: str, door: Door) -> None:
    log_first_factor(account=person_named(handle), network=network, door=door, first=Factor.PASSWORD)


def _log(handle: str, *, network: str, door: Door, second: str, refused: bool) -> None:
    account = person_named(handle)
    if account is None or not has_second_factor(account=account):
        second = ""
    log_sign_in(account=account, network=network, door=door, first=Factor.PASSWORD, second=second, refused=refused)
