"""The ASGI application: the live streams. `config.wsgi` serves all other requests."""

import os

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from config.changes.streams.application import StreamApplication  # noqa: E402  after the setup
from config.metrics import publishing  # noqa: E402
from config.probes.asgi import answer_probes  # noqa: E402

application = StreamApplication()
served = answer_probes(application, lambda: application.follows_log)
if settings.METRICS:
    publishing.start()
