"""The bodies of requests for agents and tokens."""

from __future__ import annotations

from typing import Any, ClassVar

from agents.models import Scope
from agents.models.agent import COMMUNITIES_MAX, REASON_MAX
from agents.models.request import AGENT_NAME_MIN, PURPOSE_MAX, PURPOSE_MIN, WEBSITE_MAX
from agents.models.token import DAYS_DEFAULT, DAYS_MAX, LABEL_MAX
from agents.services.rotation import OldEnds
from kernel.api.fields import Choice, Id, Integer, ListOf, Text
from kernel.api.serializers import BodySerializer
from messaging.models.account import HANDLE, NAME_MAX
from messaging.serializer_fields import Name, WebUrl

# Duplicates are removed, so a list may be longer than the number of scopes.
SCOPES_MAX = 100


def _scopes(**kwargs: Any) -> ListOf:
    return ListOf(child=Choice(choices=Scope.choices), allow_empty=False, max_length=SCOPES_MAX, **kwargs)


def _communities(help_text: str) -> ListOf:
    return ListOf(child=Id(), max_length=COMMUNITIES_MAX, source="community_ids", required=False, help_text=help_text)


class NewRequest(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {
        "agentName": "Library Helper",
        "agentHandle": "library_helper",
        "purpose": "Answers questions about our books.",
        "scopes": ["post", "reply"],
    }
    agentName = Name(
        source="agent_name", min_length=AGENT_NAME_MIN, max_length=NAME_MAX, help_text="Shown beside its posts."
    )
    agentHandle = Text(source="agent_handle", pattern=HANDLE, help_text="Unique, of a-z, 0-9 and _.")
    purpose = Text(
        trim=True, min_length=PURPOSE_MIN, max_length=PURPOSE_MAX, help_text="What it will do, for the super admin."
    )
    website = WebUrl(max_length=WEBSITE_MAX, required=False, help_text="About the agent.")
    scopes = _scopes(help_text="What it needs to write.")
    communityIds = _communities("Absent or empty: every community.")


class ReasonBody(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": "No longer used."}
    reason = Text(max_length=REASON_MAX, required=False, allow_blank=True, help_text="Shown to the operator.")


class Approval(ReasonBody):
    openapi_example: ClassVar[dict[str, Any]] = {"reason": "Welcome.", "scopes": ["reply"]}
    scopes = _scopes(required=False, help_text="A subset; absent: all.")
    communityIds = _communities("A subset; absent: all.")


class NewToken(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"label": "laptop", "expiresInDays": 30}
    label = Name(max_length=LABEL_MAX, required=False, allow_blank=True, help_text="To tell tokens apart.")  # type: ignore[assignment]  # Field has a `label`
    expiresInDays = Integer(
        source="expires_in_days", min_value=1, max_value=DAYS_MAX, default=DAYS_DEFAULT, help_text="Days it is valid."
    )


class Rotation(BodySerializer):
    openapi_example: ClassVar[dict[str, Any]] = {"oldEndsIn": OldEnds.DAY}
    oldEndsIn = Choice(
        source="old_ends_in", choices=OldEnds.choices, default=OldEnds.NOW, help_text="When the former ends."
    )
    expiresInDays = Integer(
        source="expires_in_days",
        min_value=1,
        max_value=DAYS_MAX,
        required=False,
        help_text="Days the new one is valid; absent: as the former.",
    )
