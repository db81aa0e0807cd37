from __future__ import annotations

from rest_framework.decorators import action

from kernel.api import throttling
from kernel.api.credentials import CredentialKind
from kernel.api.operations import operation
from kernel.api.requests import ApiRequest
from kernel.api.responses import Response
from kernel.api.viewsets import ApiViewSet
from messaging.exceptions import MessageNotFound
from messaging.serializers.reports import NewReport, ReportedSerializer
from messaging.services.reporting import report_message


class ReportViewSet(ApiViewSet):
    @action(detail=True, methods=["post"])
    @operation(
        "reportMessage",
        for_panel=True,
        callers={CredentialKind.PERSON},
        body=NewReport,
        response=ReportedSerializer,
        errors=(MessageNotFound,),
    )
    def report(self, request: ApiRequest, id: str) -> Response:
        """Report a post to the moderators. A repeated call changes nothing.

        In a community that has set their number, so many reports make a post pending.
        """
        message_id = self.path_id(MessageNotFound)
        throttling.hit("report", str(request.user.pk))
        report_message(message_id=message_id, by=request.user, transaction=request.transaction, **self.body())
        return Response({"reported": True})
