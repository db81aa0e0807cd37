"""The settings of simplejwt (`settings.SIMPLE_JWT`)."""

import hashlib
import hmac
from datetime import timedelta
from typing import Any


def jwt_settings(secret_key: str) -> dict[str, Any]:
    """The signing key is derived from SECRET_KEY."""
    return {
        "ALGORITHM": "HS256",
        "SIGNING_KEY": hmac.digest(secret_key.encode(), b"json web tokens", hashlib.sha256).hex(),
        "ISSUER": "community-messaging",
        "AUDIENCE": "community-messaging",
        "ACCESS_TOKEN_LIFETIME": timedelta(minutes=15),
        "REFRESH_TOKEN_LIFETIME": timedelta(days=14),
        "ROTATE_REFRESH_TOKENS": False,
        "BLACKLIST_AFTER_ROTATION": False,
        # The clocks of several hosts differ.
        "LEEWAY": timedelta(seconds=10),
        "USER_ID_FIELD": "id",
        "USER_ID_CLAIM": "sub",
    }
