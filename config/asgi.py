"""The ASGI application: the live streams. `config.wsgi` serves all other requests."""

import os

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from kernel.changes.streams.application import StreamApplication  # noqa: E402  after the setup
from kernel.metrics import publishing  # noqa: E402

application = StreamApplication()
if settings.METRICS:
    publishing.start()
