"""Refusals of operations on webhooks."""

from __future__ import annotations

from kernel.api.exceptions import ApiError, Forbidden, InvalidInput, NotFound
from messaging.models import DeliveryError


class WebhooksDisabled(Forbidden):
    default_code = "webhooks_disabled"
    message = "Poll GET /v1/changes or GET /v1/inbox instead: this service sends no webhooks."
    cause = "The operator of the service has not set `WEBHOOKS=1`."
    remedy = "Read the lists or their streams; they have the same items."


class WebhookNotFound(NotFound):
    default_code = "webhook_not_found"
    message = "Use the id of one of your webhooks: GET /v1/webhooks lists them."
    cause = "No webhook has this id, it was deleted, or it is another person's."
    remedy = "List your webhooks."


class WebhookTargetNotFound(NotFound):
    default_code = "webhook_target_not_found"
    message = "Use the id of an embed you own, which is not disabled, or of an agent you operate."
    cause = "No embed or agent has this id, it is another person's, or it is disabled."
    remedy = "GET /api/embeds/instances lists your embeds, GET /v1/agent-tokens/requests your agents."


class WebhookUrlNotAllowed(InvalidInput):
    default_code = "webhook_url_not_allowed"
    message = "Send an https URL on a public host, on port 443 or from 1024."
    cause = "Webhooks are sent to global addresses only; `details` has what is wrong with this URL."
    remedy = "Use a host whose every address is global. For trying out, the operator may set `WEBHOOKS_ALLOW_LOCAL=1`."
    example = {"message": "Send another URL. The host is local, or an address that is not global.", "field": "url"}


class TooManyWebhooks(ApiError):
    status_code = 409
    default_code = "too_many_webhooks"
    message = "Delete a webhook of this embed or agent first: it has {max}, the most allowed."
    cause = "The embed or agent has as many webhooks as are allowed, or you have at this host (then with `field`)."
    remedy = "GET /v1/webhooks lists them; DELETE /v1/webhooks/{id} removes one."
    example = {"max": 10}


class WebhookBlocked(Forbidden):
    default_code = "webhook_blocked"
    message = "Ask a super admin: they disabled this webhook or one with its URL, and only they may enable it."
    cause = "A super admin disabled the webhook, or one with this URL; its `disabledDetails` has the reason."
    remedy = "Only a super admin may enable it."


class NotSent(Exception):
    """An event could not be sent, or no valid response arrived."""

    def __init__(self, error: DeliveryError) -> None:
        super().__init__(error)
        self.error = error
