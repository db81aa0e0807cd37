"""Errors of operations on posts, pages and accounts."""

from __future__ import annotations

from config.api.exceptions import ApiError, Forbidden, InvalidInput, NotFound, Unauthenticated


class InvalidUrlError(InvalidInput):
    code = "invalid_url"


class UnknownPage(InvalidInput):
    """400: normalize-url has issued no such `pageId`."""

    code = "unknown_page"


class EmptyMessage(InvalidInput):
    code = "empty_message"


class CommunityMismatch(InvalidInput):
    code = "community_mismatch"


class InvalidPayload(InvalidInput):
    """400: `details` is a list of `{pointer, message}` (JSON pointers into the payload)."""

    code = "invalid_payload"


class CommunityForbids(Forbidden):
    code = "community_forbids"


class MessageNotFound(NotFound):
    code = "message_not_found"


class CommunityNotFound(NotFound):
    code = "community_not_found"


class ParentNotFound(NotFound):
    code = "parent_not_found"


class QuoteNotFound(NotFound):
    code = "quote_not_found"


class ContentBlocked(ApiError):
    """422: a word list blocks the text. The response does not contain the words."""

    status = 422
    code = "content_blocked"


class HandleTaken(ApiError):
    status = 409
    code = "handle_taken"


class NotInThisState(ApiError):
    """409: a moderator's decision does not apply to the message's current status."""

    status = 409
    code = "message_state_changed"


class InvalidCredentials(Unauthenticated):
    """401: the handle or the password is wrong. The response does not say which."""

    code = "invalid_credentials"


class PersonNotFound(NotFound):
    """404: the account does not exist or is an agent's."""

    code = "person_not_found"


class OwnAccount(ApiError):
    """409: a super admin cannot suspend their own account."""

    status = 409
    code = "own_account"


class LastSuperAdmin(ApiError):
    """409: the last active super admin cannot be suspended."""

    status = 409
    code = "last_super_admin"


class RegistrationClosed(Forbidden):
    code = "registration_closed"
