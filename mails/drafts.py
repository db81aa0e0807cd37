"""The page that a link in a mail opens to release or reject a post of an agent, without signing in.

The link names the post, its operator and the text that the mail has shown, by its time. It works until the operator
has decided, the agent has edited the text, or LINK_DAYS have passed. The link is the permission, and serves for nothing
else.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt

from agents.models import REASON_MAX, Agent
from agents.services import drafts_of, reject_draft, release_draft
from kernel.api import signing
from kernel.api.exception_handler import error_response
from kernel.api.exceptions import ApiError, MethodNotAllowed
from kernel.database.sql import database_now
from kernel.languages import of_request
from mails.views import METHODS, as_permission
from messaging.models import Account, Message
from messaging.models.account import CAN_ACT

PURPOSE = "mail-draft"
MAC_BYTES = 16
LINK_DAYS = 7
MICROSECONDS = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SERVICES = {"release": release_draft, "reject": reject_draft}


class Link(NamedTuple):
    """`updated_at`: of the text that the mail has shown."""

    operator_id: UUID
    message_id: UUID
    updated_at: datetime


class DecisionForm(forms.Form):
    decision = forms.ChoiceField(choices=[(name, name) for name in SERVICES])
    reason = forms.CharField(label=_("Reason (the agent reads it)"), max_length=REASON_MAX, required=False)


def draft_url(operator_id: UUID, post: Message) -> str:
    micros = (post.updated_at - EPOCH) // MICROSECONDS
    packed = operator_id.bytes + post.pk.bytes + micros.to_bytes(8)
    token = packed + _mac(next(signing.root_keys()), packed)
    text = base64.urlsafe_b64encode(token).rstrip(b"=").decode()
    return f"{settings.BASE_URL}{reverse('mailed-draft', kwargs={'token': text})}"


def link_of(token: str) -> Link | None:
    """None: it is not a link of this service."""
    try:
        raw = base64.b64decode(token.encode("ascii") + b"=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        return None
    packed, mac = raw[:40], raw[40:]
    if not any(hmac.compare_digest(mac, _mac(key, packed)) for key in signing.root_keys()):
        return None
    updated_at = EPOCH + int.from_bytes(packed[32:]) * MICROSECONDS
    return Link(UUID(bytes=packed[:16]), UUID(bytes=packed[16:32]), updated_at)


def _mac(root: str, packed: bytes) -> bytes:
    return signing.mac(root, PURPOSE, packed)[:MAC_BYTES]


# The link is the permission: no cookie of the browser counts.
@csrf_exempt
def draft_page(request: HttpRequest, token: str) -> HttpResponse:
    """GET shows the post and asks, since programs that check mails open links; POST decides."""
    if request.method not in METHODS:
        return error_response(MethodNotAllowed(allowed=METHODS))
    link = link_of(token)
    if link is None:
        raise Http404
    operator = Account.objects.filter(CAN_ACT, pk=link.operator_id).first()
    draft = None if operator is None else _open_draft(link, operator)
    form = DecisionForm(request.POST if request.method == "POST" else None)
    context: dict[str, Any] = {"draft": draft, "form": form, "done": None, "refusal": None}
    if operator is not None and draft is not None and form.is_valid():
        try:
            context["done"] = _decided(form.cleaned_data, draft, operator, link)
        except ApiError as refusal:
            context["refusal"] = refusal
    with translation.override(of_request(request)):
        return as_permission(render(request, "mails/draft.html", context))


def _open_draft(link: Link, operator: Account) -> Message | None:
    """The post, if it waits for the operator still, with the text that was mailed."""
    if database_now() - link.updated_at > timedelta(days=LINK_DAYS):
        return None
    own = Agent.objects.live().operated_by(operator).filter(account__messages=link.message_id).first()
    return None if own is None else drafts_of(own.pk).filter(pk=link.message_id, updated_at=link.updated_at).first()


def _decided(data: dict[str, str], draft: Message, operator: Account, link: Link) -> Message:
    decide = SERVICES[data["decision"]]
    return decide(
        agent_id=draft.author_id,
        message_id=draft.pk,
        by=operator,
        reason=data["reason"].strip(),
        seen_at=link.updated_at,
    )
