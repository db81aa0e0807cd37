"""The settings of webhooks."""

from django.core.exceptions import ImproperlyConfigured

from config import env
from config.address_settings import HTTPS

# Whether the service sends webhooks to other machines.
WEBHOOKS = env.flag("WEBHOOKS", default=False)
WEBHOOKS_ALLOW_LOCAL = env.flag("WEBHOOKS_ALLOW_LOCAL", default=False)

if WEBHOOKS_ALLOW_LOCAL and HTTPS:
    raise ImproperlyConfigured(
        "WEBHOOKS_ALLOW_LOCAL is 1 and BASE_URL is https: webhooks to local addresses are for trying out."
    )
