"""The WSGI application."""

import os

from django.conf import settings
from django.core import cache, signals
from django.core.handlers import base
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, reset_queries

from kernel.api.bodies import drain_request_body
from kernel.api.chain import PublicReads
from kernel.api.operations import query_names
from kernel.cache.wsgi import cache_responses
from kernel.compression import compress_for_own_pages
from kernel.metrics.wsgi import observe_requests
from kernel.probes import wsgi
from kernel.probes.wsgi import answer_probes

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

_django = PublicReads(get_wsgi_application())

# Receivers that Django runs around each request and this service does not need: it logs no queries, changes no URL
# configuration, and closes neither caches nor connections. The next request checks the health of its connection.
signals.request_started.disconnect(reset_queries)
for receiver in (cache.close_caches, base.reset_urlconf, close_old_connections):
    signals.request_finished.disconnect(receiver)


application = drain_request_body(
    answer_probes(observe_requests(compress_for_own_pages(cache_responses(_django, query_names)))),
)
if settings.METRICS:
    wsgi.start()
