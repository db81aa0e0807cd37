"""Forms with a file: the paths of UPLOADS. Everywhere else a body has at most 1 MiB, and no file is read."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.conf import settings
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string

from kernel.api.exception_handler import error_response
from kernel.api.exceptions import PayloadTooLarge
from kernel.api.request_bodies import content_length
from kernel.api.strict_json import BODY_MAX


def takes_uploads(path: str) -> bool:
    return any(re.fullmatch(form, path) for form in settings.UPLOADS)


class UploadMiddleware:
    """Takes a file of those who may send it, and refuses other bodies over 1 MiB unread (413).

    It knows who is signed in, and comes before anything reads the body: CsrfViewMiddleware does so in `process_view`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if takes_uploads(request.path_info):
            upload_max = _upload_max(request)
            if content_length(request.META) > BODY_MAX + upload_max:
                return error_response(PayloadTooLarge(field="body", max=BODY_MAX + upload_max))
            if upload_max:
                # The file is written to the disk while the body is read.
                request.upload_handlers = [TemporaryFileUploadHandler(request)]
        return self.get_response(request)


def _upload_max(request: HttpRequest) -> int:
    """The bytes of a file that this account may send; 0: no file."""
    for form, function in settings.UPLOADS.items():
        match = re.fullmatch(form, request.path_info)
        if match and request.user.is_authenticated:
            size: int = import_string(function)(request.user, **match.groupdict())
            return size
    return 0
