"""The operations of moderators, and reportMessage."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework.decorators import action

from kernel.api import throttling
from kernel.api.context import ApiContext, ApiRequest
from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import InvalidParameter, OtherCommunity
from kernel.api.fields import ListQuery
from kernel.api.openapi.example_values import TIME
from kernel.api.operations import operation
from kernel.api.pagination import envelope
from kernel.api.requests import Response
from kernel.api.serializers import render
from kernel.api.viewsets import ApiViewSet
from kernel.writes.idempotency import Replay
from messaging.accounts.exceptions import PersonNotFound
from messaging.communities import bans, moderators
from messaging.communities.serializers import DiscussionSerializer
from messaging.models import Message
from messaging.models.moderation import QueueState
from messaging.moderation import moderators as moderating
from messaging.moderation import pages, serializers
from messaging.moderation.exceptions import (
    AccountNotFound,
    BanNotFound,
    ClosingNotFound,
    CreatorProtected,
    LastModerator,
    ModeratorBanned,
    ModeratorNotFound,
    ModeratorRequired,
    NotPinnable,
    PinNotFound,
    TooManyModerators,
    TooManyPins,
)
from messaging.moderation.queries import moderation_queue
from messaging.moderation.reporting import report_message
from messaging.moderation.serializers import NewReport, ReportedSerializer
from messaging.pages import discussions
from messaging.pages.discussions import discussion_of
from messaging.pages.moving import moved_to
from messaging.pages.page_ids import is_page_id
from messaging.posts.embed_views import embed_errors
from messaging.posts.exceptions import (
    CommunityNotFound,
    MessageEdited,
    MessageNotFound,
    NotInThisState,
    UnknownPage,
    WaitsForOperator,
    page_id_needed,
)
from messaging.serializer_fields import PAGE_ID_SCHEMA

PERSON = {CredentialKind.PERSON}
PRIVATE = {"Cache-Control": "private, no-store"}


def _authorize_post_replay(api: ApiContext, _replay: Replay) -> None:
    moderators.require_moderator_of_post(message_id=api.path_id(MessageNotFound), by=api.credential.user)


def _authorize_community_replay(api: ApiContext, _replay: Replay) -> None:
    moderators.moderated_community(community_id=api.path_id(CommunityNotFound), by=api.credential.user)


def _authorize_removal_replay(api: ApiContext, replay: Replay) -> None:
    """Who has ended their own moderation is no moderator since."""
    if api.path_id(ModeratorNotFound, "accountId") != api.credential.user.pk:
        _authorize_community_replay(api, replay)


# The declaration that the decisions on a post share.
OF_POST: dict[str, Any] = {
    "callers": PERSON,
    "for_panel": True,
    "body": serializers.ModerationReason,
    "response": serializers.DecidedSerializer,
    "errors": (MessageNotFound, ModeratorRequired, NotInThisState, WaitsForOperator),
    "authorize_replay": _authorize_post_replay,
}
APPROVAL = OF_POST | {"body": serializers.MessageApproval, "errors": (*OF_POST["errors"], MessageEdited)}
OF_COMMUNITY: dict[str, Any] = {"callers": PERSON, "authorize_replay": _authorize_community_replay}
REFUSED = (CommunityNotFound, ModeratorRequired)


class ModerationQueueViewSet(ApiViewSet):
    @action(detail=False, methods=["get"])
    @operation(
        "listModerationQueue",
        for_panel=True,
        callers=PERSON,
        query=serializers.QueueQuery,
        response=serializers.QueueSerializer,
        errors=REFUSED,
        links={name: {"id": "messages/0/id"} for name in ("approveMessage", "hideMessage", "restoreMessage")},
    )
    def queue(self, request: ApiRequest) -> Response:
        """List the posts that wait for your decision, oldest first."""
        query = self.query()
        page = self.page("moderation-queue", query, moderator=request.user.pk)
        community_id, page_id = query.get("community_id"), query.get("page_id")
        if page_id is not None and not is_page_id(page_id):
            raise InvalidParameter(page_id_needed(page_id), field="pageId")
        if community_id is not None:
            moderators.moderated_community(community_id=community_id, by=request.user)
        state = QueueState(query["state"])
        asked = {"moderator": request.user, "community_id": community_id, "state": state, "page": page}
        return Response(_queue(page_id, **asked))


def _queue(page_id: str | None, **asked: Any) -> dict[str, Any]:
    """As in lists, redirects are queried only for a page without posts."""
    found = moderation_queue(page_id=page_id, **asked)
    if page_id is not None and not found["messages"] and (new_id := moved_to(page_id)) is not None:
        return moderation_queue(page_id=new_id, **asked)
    return found


class OwnModerationViewSet(ApiViewSet):
    @operation(
        "getOwnModeration",
        for_panel=True,
        callers=PERSON,
        query=serializers.OwnModerationQuery,
        response=serializers.OwnModerationSerializer,
        errors=embed_errors(),
    )
    def list(self, request: ApiRequest) -> Response:
        """Find out whether you moderate the community of a widget, and how many posts wait there."""
        own = moderating.own_moderation(embed_id=self.query()["embed_id"], by=request.user)
        return Response(render(serializers.OwnModerationSerializer, own), headers=PRIVATE)


class ModeratedMessageViewSet(ApiViewSet):
    @action(detail=True, methods=["post"])
    @operation("approveMessage", **APPROVAL)
    def approve(self, request: ApiRequest, id: str) -> Response:
        """Publish a pending post, or close the reports of a published one."""
        return self._decide(moderating.approve)

    @action(detail=True, methods=["post"])
    @operation("hideMessage", **OF_POST, example={"status": "hidden"})
    def hide(self, request: ApiRequest, id: str) -> Response:
        """Hide a post with the replies to it."""
        return self._decide(moderating.hide)

    @action(detail=True, methods=["post"])
    @operation("restoreMessage", **OF_POST | {"body": serializers.MessageRestoration})
    def restore(self, request: ApiRequest, id: str) -> Response:
        """Publish a hidden post again, or undo its hiding."""
        return self._decide(moderating.restore)

    @action(detail=True, methods=["post"])
    @operation(
        "pinMessage",
        **OF_POST
        | {"body": serializers.NewPin, "response": serializers.PinnedSerializer}
        | {"errors": (*OF_POST["errors"], NotPinnable, TooManyPins)},
    )
    def pin(self, request: ApiRequest, id: str) -> Response:
        """Show a published post of a community first on its page; at most three.

        Its pin is not shown while the post is not public, and makes room then for another one.
        """
        pin = pages.pin_message(message_id=self.path_id(MessageNotFound), by=request.user, **self.body())
        return Response({"id": pin.message_id, "pinned": True})

    @pin.mapping.delete
    @operation(
        "unpinMessage",
        for_panel=True,
        callers=PERSON,
        authorize_replay=_authorize_post_replay,
        response=serializers.PinnedSerializer,
        errors=(MessageNotFound, ModeratorRequired, PinNotFound),
        example={"pinned": False},
    )
    def unpin(self, request: ApiRequest, id: str) -> Response:
        """Show the post in its place again."""
        message_id = self.path_id(MessageNotFound)
        pages.unpin_message(message_id=message_id, by=request.user)
        return Response({"id": message_id, "pinned": False})

    def _decide(self, decide: Any) -> Response:
        message_id = self.path_id(MessageNotFound)
        post: Message = decide(message_id=message_id, by=self.request.user, **self.body())
        return Response({"id": post.pk, "status": post.status})


class ModeratedCommunityViewSet(ApiViewSet):
    @operation(
        "updateCommunity",
        **OF_COMMUNITY,
        body=serializers.CommunityChanges,
        response=serializers.ModeratedCommunitySerializer,
        errors=REFUSED,
    )
    def update(self, request: ApiRequest, id: str) -> Response:
        """Change rules, and replace blocked words."""
        community_id = self.path_id(CommunityNotFound)
        community = moderating.change_rules(community_id=community_id, changes=self.body(), by=request.user)
        return Response(render(serializers.ModeratedCommunitySerializer, community))

    @action(detail=True, methods=["post"])
    @operation(
        "addModerator",
        **OF_COMMUNITY,
        body=serializers.NewModerator,
        response=serializers.ModeratorSerializer,
        errors=(*REFUSED, PersonNotFound, ModeratorBanned, TooManyModerators),
    )
    def moderators(self, request: ApiRequest, id: str) -> Response:
        """Let a person moderate the community."""
        community_id = self.path_id(CommunityNotFound)
        added = moderators.add_moderator(community_id=community_id, by=request.user, **self.body())
        return Response(render(serializers.ModeratorSerializer, added))

    @action(detail=True, methods=["delete"], url_path="moderators/<str:accountId>")
    @operation(
        "removeModerator",
        **OF_COMMUNITY | {"authorize_replay": _authorize_removal_replay},
        response=serializers.EndedSerializer,
        errors=(*REFUSED, ModeratorNotFound, CreatorProtected, LastModerator),
    )
    def moderator(self, request: ApiRequest, id: str, accountId: str) -> Response:  # noqa: N803  of the path
        """End a person's moderation, or your own.

        Only a super admin removes the creator.
        """
        ids = self._ids(ModeratorNotFound)
        moderators.remove_moderator(community_id=ids[0], account_id=ids[1], by=request.user)
        return _ended(*ids)

    @action(detail=True, methods=["post"])
    @operation(
        "banAccount",
        for_panel=True,
        **OF_COMMUNITY,
        body=serializers.NewBan,
        response=serializers.BanSerializer,
        errors=(*REFUSED, AccountNotFound, ModeratorBanned),
    )
    def bans(self, request: ApiRequest, id: str) -> Response:
        """Ban an agent, or a person with their agents: they cannot write or react there."""
        community_id = self.path_id(CommunityNotFound)
        ban = bans.ban_account(community_id=community_id, by=request.user, **self.body())
        return Response(render(serializers.BanSerializer, ban))

    @action(detail=True, methods=["delete"], url_path="bans/<str:accountId>")
    @operation(
        "liftBan",
        for_panel=True,
        **OF_COMMUNITY,
        response=serializers.EndedSerializer,
        errors=(*REFUSED, BanNotFound),
    )
    def ban(self, request: ApiRequest, id: str, accountId: str) -> Response:  # noqa: N803  as above
        """Lift a ban."""
        ids = self._ids(BanNotFound)
        bans.lift_ban(community_id=ids[0], account_id=ids[1], by=request.user)
        return _ended(*ids)

    @action(detail=True, methods=["post"])
    @operation(
        "closeDiscussion",
        for_panel=True,
        **OF_COMMUNITY,
        body=serializers.NewClosing,
        response=DiscussionSerializer,
        errors=(*REFUSED, UnknownPage),
        example={"closed": True, "closedAt": TIME},
    )
    def closed(self, request: ApiRequest, id: str) -> Response:
        """Take no more posts of the community on a page.

        Posts, replies and quotes are refused, also those of moderators. Reading, edits,
        deletions and reactions go on, and posts that wait for approval can be approved.
        """
        community_id = self.path_id(CommunityNotFound)
        closed = discussions.close_discussion(community_id=community_id, by=request.user, **self.body())
        return _discussion(community_id, closed.page_id)

    @action(detail=True, methods=["delete"], url_path="closed/<str:pageId>")
    @operation(
        "reopenDiscussion",
        for_panel=True,
        **OF_COMMUNITY,
        path={"pageId": PAGE_ID_SCHEMA},
        response=DiscussionSerializer,
        errors=(*REFUSED, ClosingNotFound),
    )
    def reopened(self, request: ApiRequest, id: str, pageId: str) -> Response:  # noqa: N803  as above
        """Take posts of the community on a page again.

        What the rule `closeAfterDays` has closed stays closed.
        """
        community_id = self.path_id(CommunityNotFound)
        discussions.reopen_discussion(community_id=community_id, page_id=pageId, by=request.user)
        return _discussion(community_id, pageId)

    @action(detail=True, methods=["get"], url_path="hidden")
    @operation(
        "listHiddenHere",
        callers=PERSON,
        query=ListQuery,
        response=serializers.HiddenListSerializer,
        errors=REFUSED,
        links={"getMessage": {"id": "hidden/0/messageId"}},
    )
    def hidden(self, request: ApiRequest, id: str) -> Response:
        """List the posts that you hide on your pages alone, newest first."""
        community = moderators.moderated_community(community_id=self.path_id(CommunityNotFound), by=request.user)
        page = self.page("hidden-here", self.query(), community=community.pk)
        rows, next_cursor = page.paginate(community.hidden_here.all())
        hidden = [render(serializers.HiddenSerializer, row) for row in rows]
        return Response(envelope("hidden", hidden, next_cursor))

    @hidden.mapping.post
    @operation(
        "hideHere",
        for_panel=True,
        **OF_COMMUNITY,
        body=serializers.NewHidden,
        response=serializers.HiddenSerializer,
        errors=(*REFUSED, MessageNotFound),
    )
    def hide_here(self, request: ApiRequest, id: str) -> Response:
        """Hide a post of others, with the replies to it, in your widgets that show the posts of everyone."""
        community_id = self.path_id(CommunityNotFound)
        hidden = pages.hide_here(community_id=community_id, by=request.user, **self.body())
        return Response(render(serializers.HiddenSerializer, hidden))

    @action(detail=True, methods=["delete"], url_path="hidden/<str:messageId>")
    @operation(
        "showHere",
        for_panel=True,
        **OF_COMMUNITY,
        response=serializers.ShownAgainSerializer,
        errors=(*REFUSED, MessageNotFound),
    )
    def show_here(self, request: ApiRequest, id: str, messageId: str) -> Response:  # noqa: N803  as above
        """Show such a post again."""
        ids = self.path_id(CommunityNotFound), self.path_id(MessageNotFound, "messageId")
        pages.show_here(community_id=ids[0], message_id=ids[1], by=request.user)
        return Response({"communityId": ids[0], "messageId": ids[1], "ended": True})

    def _ids(self, missing: Any) -> tuple[Any, Any]:
        return self.path_id(CommunityNotFound), self.path_id(missing, "accountId")


def _discussion(community_id: UUID, page_id: str) -> Response:
    return Response(render(DiscussionSerializer, discussion_of(community_id=community_id, page_id=page_id)))


def _ended(community_id: Any, account_id: Any) -> Response:
    return Response({"communityId": community_id, "accountId": account_id, "ended": True})


class ReportViewSet(ApiViewSet):
    @action(detail=True, methods=["post"])
    @operation(
        "reportMessage",
        for_panel=True,
        callers={CredentialKind.PERSON},
        body=NewReport,
        response=ReportedSerializer,
        errors=(MessageNotFound, OtherCommunity),
    )
    def report(self, request: ApiRequest, id: str) -> Response:
        """Report a post to the moderators. A repeated call changes nothing.

        In a community that has set their number, so many reports make a post pending.
        """
        message_id = self.path_id(MessageNotFound)
        throttling.hit("report", str(request.user.pk))
        report_message(message_id=message_id, by=request.user, transaction=request.transaction, **self.body())
        return Response({"reported": True})
