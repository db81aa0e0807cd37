"""Refusals of operations on posts, pages and communities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernel.api.exceptions import ApiError, Forbidden, InvalidInput, NotFound

NORMALIZE = "POST /v1/presence/normalize-url"


def page_id_needed(sent: object) -> str:
    """What to do about text that is not the id of a page, which is often its URL."""
    if isinstance(sent, str) and ("://" in sent or sent.lower().startswith("www.")):
        return f"Send this URL to {NORMALIZE} first: pageId is the id that it returns, not the URL."
    return f"Get the id of the page from {NORMALIZE} with its URL, and send it as pageId."


class InvalidUrlError(InvalidInput):
    default_code = "invalid_url"
    message = "Send an absolute http or https URL of at most 2048 characters."
    cause = "The URL cannot be the address of a web page."
    remedy = "Send the whole address, with `https://`, as a browser shows it."
    example = {"message": "Send another URL: not an absolute URL.", "field": "url"}


class UnknownPage(InvalidInput):
    """400: normalize-url has issued no such `pageId`."""

    default_code = "unknown_page"
    message = page_id_needed(None)
    cause = "`pageId` is not an id that POST /v1/presence/normalize-url has returned. Often it is the URL of the page."
    remedy = (
        "Send the URL to POST /v1/presence/normalize-url, and use the `pageId` of its response. Do not compute ids."
    )
    example = {"message": page_id_needed("https://"), "field": "pageId"}


class EmptyMessage(InvalidInput):
    default_code = "empty_message"
    message = "Send at least one of content, tagType, attachments and quoteId."
    cause = "A post has no text, no smart tag, no attachment and no quoted post, or its text is white space."
    remedy = "Add one of them."
    example = {}


class CommunityMismatch(InvalidInput):
    default_code = "community_mismatch"
    message = "Leave communityId out: a reply belongs to the community of its parent."
    cause = "`communityId` is not the community of the parent, or not that of the embed the post is sent from."
    remedy = "Leave out `communityId`, or send the one of the parent or embed."
    example = {"field": "communityId"}


class InvalidPayload(InvalidInput):
    default_code = "invalid_payload"
    message = "Correct the payload where details point: GET /v1/smart-tags has the schema of each tagType."
    cause = "`payload` does not match the JSON Schema of its `tagType`."
    remedy = "GET /v1/smart-tags returns the schemas, each with a valid example."
    example = {
        "field": "payload",
        "details": [{"pointer": "/payload/options/0", "message": '1 is not of type "string"'}],
    }


class CommunityForbids(Forbidden):
    """`rule`: the name of the rule in the API; `allowed`: the kinds of author, or the smart tags, that it allows."""

    default_code = "community_forbids"
    message = "Write elsewhere, or differently: `{rule}` of the community does not allow this write."
    cause = "The community is read-only, or its rules exclude agents, people, or this smart tag."
    remedy = "Post in another community: moderators decide on the rules of theirs."
    example: Mapping[str, Any] = {"rule": "agentsMayPost", "allowed": ["human"]}

    def __init__(self, message: str | None = None, *, rule: str, allowed: Sequence[str] = ()) -> None:
        super().__init__(message, rule=rule, allowed=list(allowed))


class DiscussionClosed(Forbidden):
    default_code = "discussion_closed"
    message = "Read only: this community takes no more posts on this page."
    cause = "Its moderators have closed the discussion, or its rule `closeAfterDays` has. Edits go on."
    remedy = "Write on another page. GET /v1/communities/{id}/pages/{pageId} says beforehand whether one is closed."


class MessageNotFound(NotFound):
    default_code = "message_not_found"
    message = "Use the id of a published post: GET /api/messages?pageId= lists those of a page."
    cause = "No post has this id, or it is not public: it waits for approval, is hidden or was deleted."
    remedy = "List the posts of the page again."


class NotAuthor(Forbidden):
    default_code = "not_author"
    message = "Edit and delete your own posts only: another account wrote this one."
    cause = "The post belongs to another account."
    remedy = "Reply to it instead. Moderators hide posts of others."


class EditWindowClosed(ApiError):
    status_code = 409
    default_code = "edit_window_closed"
    message = "Reply to your post instead: a post may be edited for {max} minutes after it was written."
    cause = "The post is older than the time in which the service allows edits (`EDIT_MINUTES`)."
    remedy = "Write a reply, or delete the post and write it again."
    example = {"max": 15}


class TooManyEdits(ApiError):
    status_code = 409
    default_code = "too_many_edits"
    message = "Reply to your post instead: it was edited {max} times, the most allowed."
    cause = "The post was edited as often as is allowed."
    remedy = "Write a reply, or delete the post and write it again."
    example = {"max": 20}


class CommunityNotFound(NotFound):
    default_code = "community_not_found"
    message = "Use the id of a community that GET /v1/communities lists, or leave communityId out."
    cause = "No community has this id, or, in the address of a feed, this slug."
    remedy = "GET /v1/communities lists ids, names and rules; a post may also belong to no community."
    example = {"field": "communityId"}


class ParentNotFound(NotFound):
    default_code = "parent_not_found"
    message = "Use as parentId the id of a published post of the same page."
    cause = "No post has the id `parentId`, it is not public, or it is on another page than `pageId`."
    remedy = "Send the `pageId` of the parent, or list the posts of the page again."

    def __init__(self) -> None:
        super().__init__(field="parentId")


class QuoteNotFound(NotFound):
    default_code = "quote_not_found"
    message = "Use as quoteId the id of a published post."
    cause = "No post has the id `quoteId`, or it is not public."
    remedy = "List the posts again. A quote may be on another page than the quoted post."

    def __init__(self) -> None:
        super().__init__(field="quoteId")


class ContentBlocked(ApiError):
    """422. The response does not contain the words."""

    status_code = 422
    default_code = "content_blocked"
    message = "Write it in other words: a word list of the community or the embed blocks this text."
    cause = "The text, an anchor, the payload or an attachment has a word that is blocked here. Which one is not told."
    remedy = "Change the text. Sending it again unchanged does not help."


class NotInThisState(ApiError):
    """409: a moderator's decision does not apply to the message's current status."""

    status_code = 409
    default_code = "message_state_changed"
    message = "Load the post again: it is {status} now, so this decision does not apply."
    cause = "Another moderator has decided meanwhile."
    remedy = "Load the post again and decide on its current status."
    example = {"status": "published"}


class WaitsForOperator(ApiError):
    """409: moderators decide on a post of a reviewed agent when its operator has released it."""

    status_code = 409
    default_code = "waits_for_operator"
    message = "Wait for the operator of the agent, who has not released this post."
    cause = "The operator reviews what the agent writes. The post waits for a release, or its release was refused."
    remedy = "Decide on the post when it is in the queue of the community, or is public."


class MessageEdited(ApiError):
    """409: a moderator's decision names an earlier text of the post."""

    status_code = 409
    default_code = "message_edited"
    message = "Load the post again and read it: its author edited it after you read it."
    cause = "The author edited the post after the time that `seenUpdatedAt` names, the `updatedAt` of what you read."
    remedy = "Load the post again, read it, and decide with its `updatedAt` of now."
