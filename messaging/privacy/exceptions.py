"""Refusals of exports and erasures of people."""

from __future__ import annotations

from kernel.api.exceptions import ApiError, Forbidden, NotFound


class ExportNotFound(NotFound):
    """404: it does not exist, is not ready, has been deleted, or is another person's."""

    default_code = "export_not_found"
    message = "Ask for a new export: this one does not exist, or was deleted after seven days."
    cause = "Exports are deleted after seven days. Only the person whose data it is can download one."
    remedy = "Ask for an export on the page of the account, or with `manage.py export_person HANDLE`."


class TooManyExports(ApiError):
    status_code = 429
    default_code = "too_many_exports"
    message = "Try again tomorrow: a person gets {max} exports in 24 hours."
    cause = "The person has asked for so many exports in the last 24 hours."
    remedy = "Download the last one: it is ready for seven days."
    example = {"max": 3}

    def __init__(self, *, max: int) -> None:
        super().__init__(max=max)


class ErasureNotFound(NotFound):
    default_code = "erasure_not_found"
    message = "Nothing to cancel: no erasure of this account is waiting, or it has begun already."
    cause = "Nobody has asked for it, it was cancelled, or its seven days are over."
    remedy = "Reload the page. An erasure that has begun cannot be cancelled."


class AccountBeingErased(Forbidden):
    """403, of sign-ins to the API."""

    default_code = "account_being_erased"
    message = "Cancel the erasure of this account first, on its page in the account area."
    cause = "The person has asked to be erased. Until that is cancelled, the account can only cancel it."
    remedy = "Sign in at `/account/` within seven days of the request, and cancel it there."
