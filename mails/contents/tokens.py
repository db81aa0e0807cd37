"""Mails about tokens that expire soon, to the operators of their agents."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from agents.models import AgentToken
from mails import places
from mails.contents.parts import Content, Item, ids_in, one_line
from mails.models import Notice
from messaging.models import Account


def expiring_tokens(account: Account, notices: Sequence[Notice]) -> Content:
    """The tokens that are active still."""
    ids = ids_in(notices, "tokenId")
    found = AgentToken.objects.active().filter(pk__in=ids, agent__operator=account)
    items = [_token(token) for token in found.select_related("agent__account").order_by("expires_at", "id")]
    return Content(
        subject=items[0].sentence if len(items) == 1 else _("Tokens of your agents expire soon"),
        reason=_("You get this mail because you operate this agent."),
        items=items,
    )


def _token(token: AgentToken) -> Item:
    handle = token.agent.account.handle
    names = {"agent": handle, "date": date_format(token.expires_at, "DATE_FORMAT")}
    # The label, else what the lists of tokens show of its value.
    details = [_("Token: %(token)s") % {"token": one_line(token.label or f"{token.prefix}…")}]
    sentence = _("A token of @%(agent)s expires on %(date)s") % names
    return Item(sentence, places.agent(handle), _("Create a new token"), details=details)
