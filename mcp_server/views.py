from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django_mcpz.jsonrpc import INVALID_REQUEST, PARSE_ERROR, read_id

from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import ApiError
from kernel.api.operations import operation
from kernel.api.parsers import check_media_type
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.strict_json import parse_json
from kernel.api.viewsets import ApiViewSet
from mcp_server.server import Caller, server_for


class McpViewSet(ApiViewSet):
    # MCP describes itself (`tools/list`): the OpenAPI document does not.
    schema = None

    @operation("mcp", callers={CredentialKind.PUBLIC, CredentialKind.AGENT, CredentialKind.PERSON}, is_gateway=True)
    def create(self, request: ApiRequest) -> HttpResponse:
        """Answer a message of the Model Context Protocol."""
        http_request = request._request
        if not _is_own_origin(http_request):
            return _error(HTTPStatus.FORBIDDEN, code=INVALID_REQUEST, message="Invalid Origin header")
        check_media_type(http_request)
        try:
            # The library's parser accepts values on which later code would fail.
            message = parse_json(http_request.body)
        except ApiError as refusal:
            error = {"code": PARSE_ERROR, "message": refusal.message, "data": refusal.body()}
            return _error(HTTPStatus.BAD_REQUEST, message_id=_id_in(http_request.body), **error)
        is_call = isinstance(message, dict) and message.get("method") == "tools/call"
        return server_for(Caller.of(request.auth), is_call=is_call)(http_request)


def _is_own_origin(request: HttpRequest) -> bool:
    """Whether no page of another origin made a browser send the request. The library compares hosts alone."""
    origin = request.headers.get("Origin")
    own = (settings.BASE_URL, settings.APP_URL, f"{request.scheme}://{request.get_host()}")
    return origin is None or origin in own


def _error(status: HTTPStatus, *, message_id: str | int | None = None, **error: Any) -> Response:
    return Response({"jsonrpc": "2.0", "id": message_id, "error": error}, status=status)


def _id_in(raw: bytes) -> str | int | None:
    """The id of a message that was refused, so that its client does not wait for an answer; None without one."""
    try:
        # Unlike parse_json it accepts what was refused, such as a lone surrogate.
        request_id = read_id(json.loads(raw))
        parse_json(json.dumps(request_id).encode())
    except (ValueError, RecursionError, ApiError):
        return None
    return request_id
