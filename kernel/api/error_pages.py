"""The pages that explain the codes of refusals, from the texts of their classes: HTML, JSON or Markdown by `Accept`."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import orjson
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from kernel.api import requests
from kernel.api.exception_handler import read_only
from kernel.api.exceptions import ApiError
from kernel.api.exceptions.base import errors_by_code
from kernel.api.public_documents import public_document
from kernel.cache.rendering import to_json

PLAIN, CODE = "{}", "<code>{}</code>"
HTML, MARKDOWN = "text/html; charset=utf-8", f"{requests.MARKDOWN_TYPE}; charset=utf-8"
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
EXAMPLE_ID = "5f0c7ac1-8a55-4d6f-9a3c-6f0f7d1e2b3a"
TEXTS = ("cause", "remedy")


@read_only
def index(request: HttpRequest) -> HttpResponse:
    """List all codes."""
    errors = [described(error) for error in errors_by_code().values()]
    match _accepted(request):
        case requests.JSON_TYPE:
            return _respond(request, to_json({"errors": errors}), requests.JSON_TYPE)
        case requests.MARKDOWN_TYPE:
            return _respond(request, _list(errors), MARKDOWN)
    html = render_to_string("api/errors.html", {"errors": list(map(_marked, errors))})
    return _respond(request, html, HTML)


@read_only
def page(request: HttpRequest, code: str) -> HttpResponse:
    """Explain one code. The part after a colon, such as the scope that is missing, is ignored."""
    error = errors_by_code().get(code.partition(":")[0])
    if error is None:
        raise Http404
    data = described(error)
    match _accepted(request):
        case requests.JSON_TYPE:
            return _respond(request, to_json(data), requests.JSON_TYPE)
        case requests.MARKDOWN_TYPE:
            return _respond(request, _text(data), MARKDOWN)
    return _respond(request, render_to_string("api/error.html", _marked(data) | {"shown": _shown(data)}), HTML)


def described(error: type[ApiError]) -> dict[str, Any]:
    """What the page of an error has; its example is a real refusal."""
    example = error(**error.example)
    return {
        "error": error.default_code,
        "status": error.status_code,
        "reason": HTTPStatus(error.status_code).phrase,
        "cause": error.cause,
        "remedy": error.remedy,
        "example": example.body() | {"requestId": EXAMPLE_ID},
        "headers": example.headers,
        "docs": example.docs,
    }


def _accepted(request: HttpRequest) -> str | None:
    return request.get_preferred_type(["text/html", requests.JSON_TYPE, requests.MARKDOWN_TYPE])


def _respond(request: HttpRequest, text: str | bytes, content_type: str) -> HttpResponse:
    response = public_document(request, text.encode() if isinstance(text, str) else text, content_type)
    response.headers["Vary"] = "Accept"
    response.headers["Content-Security-Policy"] = POLICY
    return response


def _list(errors: list[dict[str, Any]]) -> str:
    rows = [f"- [`{error['error']}`]({error['docs']}) ({error['status']}): {error['cause']}" for error in errors]
    return "\n".join(["# Error codes", "", *rows, ""])


def _text(data: dict[str, Any]) -> str:
    return (
        f"# `{data['error']}` ({data['status']})\n\n{data['cause']}\n\n"
        f"## What to do\n\n{data['remedy']}\n\n## Example\n\n```\n{_shown(data)}\n```\n"
    )


def _shown(data: dict[str, Any]) -> str:
    """The example as a response."""
    lines = [f"HTTP/1.1 {data['status']} {data['reason']}"]
    lines += [f"{name}: {value}" for name, value in data["headers"].items()]
    return "\n".join([*lines, "", orjson.dumps(data["example"], option=orjson.OPT_INDENT_2).decode()])


def _marked(data: dict[str, Any]) -> dict[str, Any]:
    """With the texts as HTML: `code` is between backticks."""
    return data | {name: _with_code(data[name]) for name in TEXTS}


def _with_code(text: str) -> SafeString:
    parts = ((CODE if number % 2 else PLAIN, part) for number, part in enumerate(text.split("`")))
    return format_html_join("", "{}", ((format_html(form, part),) for form, part in parts))
