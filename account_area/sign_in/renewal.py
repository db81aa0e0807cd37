"""A session ends fourteen days after its last use. It is written once a day at most."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth import SESSION_KEY
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils import timezone

from kernel.pages.sessions import stored_key

RENEWED_EVERY = timedelta(days=1)
USED_AT = "used_at"


def renew(request: HttpRequest) -> None:
    """Begin the fourteen days again, unless that was done within a day. A session of nobody is not touched."""
    from account_area.models import AccountSession

    session = request.session
    now = timezone.now()
    if SESSION_KEY not in session or session.get(USED_AT, "") > (now - RENEWED_EVERY).isoformat():
        return
    session[USED_AT] = now.isoformat()
    AccountSession.objects.filter(session_id=stored_key(session.session_key or "")).update(last_used_at=Now())
