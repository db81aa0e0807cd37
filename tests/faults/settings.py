"""The settings of the service, with limits that load and generated requests do not reach."""

from config.settings import *  # noqa: F403
from config.settings import HOURLY_LIMITS
from config.throttles import SOFT_THROTTLES

UNREACHED = 10_000_000

HOURLY_LIMITS = dict.fromkeys(HOURLY_LIMITS, UNREACHED)
SOFT_THROTTLES = {name: (UNREACHED, seconds) for name, (_calls, seconds) in SOFT_THROTTLES.items()}
# Sign-ins of the tests need no slow hash.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
