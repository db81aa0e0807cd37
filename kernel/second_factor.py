"""With `ADMIN_MFA=1` a super admin without a second factor can only set one up."""

from __future__ import annotations

from typing import Any

from django.conf import settings


def needs_second_factor(account: Any) -> bool:
    """Whether the operator requires one of this person, who has none. One query, of such super admins alone."""
    # The models of allauth need the registry of apps, which is not ready when this module is imported.
    from allauth.mfa.models import Authenticator

    if not (settings.ADMIN_MFA and account.is_superuser):
        return False
    rows = Authenticator.objects.filter(user_id=account.pk)
    return not rows.exclude(type=Authenticator.Type.RECOVERY_CODES).exists()
