"""Errors of operations on posts, pages and accounts."""

from __future__ import annotations

from config.api.exceptions import ApiError, Forbidden, InvalidInput, NotFound, Unauthenticated


class InvalidUrlError(InvalidInput):
    default_code = "invalid_url"


class UnknownPage(InvalidInput):
    """400: normalize-url has issued no such `pageId`."""

    default_code = "unknown_page"


class EmptyMessage(InvalidInput):
    default_code = "empty_message"


class CommunityMismatch(InvalidInput):
    default_code = "community_mismatch"


class InvalidPayload(InvalidInput):
    """400: `details` is a list of `{pointer, message}` (JSON pointers into the payload)."""

    default_code = "invalid_payload"


class CommunityForbids(Forbidden):
    default_code = "community_forbids"


class MessageNotFound(NotFound):
    default_code = "message_not_found"


class CommunityNotFound(NotFound):
    default_code = "community_not_found"


class ParentNotFound(NotFound):
    default_code = "parent_not_found"


class QuoteNotFound(NotFound):
    default_code = "quote_not_found"


class ContentBlocked(ApiError):
    """422: a word list blocks the text. The response does not contain the words."""

    status_code = 422
    default_code = "content_blocked"


class HandleTaken(ApiError):
    status_code = 409
    default_code = "handle_taken"


class NotInThisState(ApiError):
    """409: a moderator's decision does not apply to the message's current status."""

    status_code = 409
    default_code = "message_state_changed"


class InvalidCredentials(Unauthenticated):
    """401: the handle or the password is wrong. The response does not say which."""

    default_code = "invalid_credentials"


class PersonNotFound(NotFound):
    """404: the account does not exist or is an agent's."""

    default_code = "person_not_found"


class OwnAccount(ApiError):
    """409: a super admin cannot suspend their own account."""

    status_code = 409
    default_code = "own_account"


class LastSuperAdmin(ApiError):
    """409: the last active super admin cannot be suspended."""

    status_code = 409
    default_code = "last_super_admin"


class RegistrationClosed(Forbidden):
    default_code = "registration_closed"


class WebhooksDisabled(Forbidden):
    """403: the operator of the service has not set `WEBHOOKS=1`."""

    default_code = "webhooks_disabled"


class WebhookNotFound(NotFound):
    """404: no such webhook, or another person's."""

    default_code = "webhook_not_found"


class WebhookTargetNotFound(NotFound):
    """404: no such embed or agent, or another person's, or it is disabled or frozen."""

    default_code = "webhook_target_not_found"


class WebhookUrlNotAllowed(InvalidInput):
    """400: webhooks are not sent to this URL; `details` has the reason."""

    default_code = "webhook_url_not_allowed"


class TooManyWebhooks(ApiError):
    """409: the embed or agent has `max` webhooks; delete one first."""

    status_code = 409
    default_code = "too_many_webhooks"


class WebhookBlocked(Forbidden):
    """403: a super admin disabled the webhook, and only a super admin may enable it."""

    default_code = "webhook_blocked"
