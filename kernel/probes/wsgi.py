"""WSGI middleware that answers probes before Django: no host is checked, nothing is redirected, throttled or cached.

Sets the gauge `ready` of this process every few seconds, whether or not a balancer asks `/readyz`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest

from kernel.api.addresses import client_address
from kernel.api.chain import NO_PAGE_POLICY
from kernel.metrics import definitions, exposition, publishing
from kernel.probes.readiness import ALLOW, READ_METHODS, Answer, healthy, method_not_allowed, parts, readiness, ready
from kernel.proxies import is_in
from kernel.request_ids import HEADER, id_of, serving

SECONDS = 5.0


def start() -> None:
    threading.Thread(target=_run, daemon=True, name="readiness").start()


def publish() -> None:
    state = readiness().state()
    for part in parts():
        definitions.ready.labels(part).set(part not in (*state.missing, *state.degraded))


def _run() -> None:
    pause = threading.Event()
    # A process that only loads the application, to check that it does, asks nothing.
    while not pause.wait(SECONDS):
        publish()


Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
REASONS = {200: "200 OK", 405: "405 Method Not Allowed", 503: "503 Service Unavailable"}
FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP")


def answer_probes(application: Application) -> Application:
    """Requests for other paths, and for metrics from other addresses, are those of the application."""
    answers: dict[str, Callable[[Environ], Answer | None]] = {
        "/healthz": lambda _environ: healthy(),
        "/readyz": lambda _environ: ready(),
    }
    if settings.METRICS_ALLOWED:
        answers["/metrics"] = metrics

    def answering(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        find = answers.get(environ["PATH_INFO"])
        answer = find(environ) if find is not None else None
        if answer is None:
            return application(environ, start_response)
        return _send(answer, environ, start_response)

    return answering


def metrics(environ: Environ) -> Answer | None:
    """None for an address that METRICS_ALLOWED does not contain.

    A proxy on this host that TRUSTED_PROXIES does not name has an allowed address perhaps, but its clients have not.
    """
    address = client_address(WSGIRequest(environ))
    is_unknown_proxy = address == environ.get("REMOTE_ADDR", "") and any(name in environ for name in FORWARDED)
    if is_unknown_proxy or not is_in(address, tuple(settings.METRICS_ALLOWED)):
        return None
    publishing.publisher().publish()
    return Answer(200, exposition.CONTENT_TYPE, exposition.text())


def _send(answer: Answer, environ: Environ, start_response: StartResponse) -> list[bytes]:
    method = environ["REQUEST_METHOD"]
    headers = [
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", NO_PAGE_POLICY),
        ("X-Content-Type-Options", "nosniff"),
        (HEADER, id_of(environ)),
    ]
    if method not in READ_METHODS:
        with serving(environ):
            answer = method_not_allowed()
        headers.append(("Allow", ALLOW))
    headers += [("Content-Type", answer.content_type), ("Content-Length", str(len(answer.body)))]
    start_response(REASONS[answer.status], headers)
    return [b"" if method == "HEAD" else answer.body]
