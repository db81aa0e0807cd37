"""The ASGI application: the live streams. `config.wsgi` serves all other requests."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from config.changes.streams.application import StreamApplication  # noqa: E402  after the setup

application = StreamApplication()
