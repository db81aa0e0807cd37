from __future__ import annotations

from http import HTTPStatus

from django.http import HttpResponse
from django_mcpz.jsonrpc import PARSE_ERROR

from config.api.credentials import CredentialKind
from config.api.exceptions import ApiError
from config.api.operations import operation
from config.api.parsers import check_media_type
from config.api.requests import ApiRequest
from config.api.responses import Response
from config.api.strict_json import parse_json
from config.api.viewsets import ApiViewSet
from mcp_server.server import Caller, server_for


class McpViewSet(ApiViewSet):
    # MCP describes itself (`tools/list`): the OpenAPI document does not.
    schema = None

    @operation("mcp", callers={CredentialKind.PUBLIC, CredentialKind.AGENT, CredentialKind.PERSON}, is_gateway=True)
    def create(self, request: ApiRequest) -> HttpResponse:
        """Answer a message of the Model Context Protocol."""
        http_request = request._request
        check_media_type(http_request)
        try:
            # The library's parser accepts values on which later code would fail.
            parse_json(http_request.body)
        except ApiError as refusal:
            error = {"code": PARSE_ERROR, "message": refusal.message, "data": refusal.body()}
            return Response({"jsonrpc": "2.0", "id": None, "error": error}, status=HTTPStatus.BAD_REQUEST)
        return server_for(Caller.of(request.auth))(http_request)
