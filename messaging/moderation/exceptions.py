"""Refusals of the creation and moderation of communities."""

from __future__ import annotations

from kernel.api.exceptions import ApiError, Forbidden, NotFound


class CommunityCreationClosed(Forbidden):
    default_code = "community_creation_closed"
    message = "Ask the operator of the service for a community: only super admins create them here."
    cause = "The service runs with `COMMUNITY_CREATION=closed`."
    remedy = "A super admin creates communities in the admin."


class TooManyCommunities(ApiError):
    status_code = 409
    default_code = "too_many_communities"
    message = "Use one of your communities: you have created {max}, the most allowed."
    cause = "A person may create five communities."
    remedy = "Use one of them, or ask a super admin for another one."
    example = {"max": 5}


class SlugTaken(ApiError):
    status_code = 409
    default_code = "slug_taken"
    message = "Send another slug, or none: a community has this one."
    cause = "Each community has its own slug, which is part of addresses."
    remedy = "Send another `slug`. Without one, it is made from the name."

    def __init__(self) -> None:
        super().__init__(field="slug")


class ModeratorRequired(Forbidden):
    default_code = "moderator_required"
    message = "Ask a moderator of the community: only its moderators and super admins may do this."
    cause = "The community has other moderators. Posts without a community are moderated by super admins."
    remedy = "A moderator of the community adds others: POST /v1/moderation/communities/{id}/moderators."


class BannedFromCommunity(Forbidden):
    default_code = "banned_from_community"
    message = "Write elsewhere: the moderators of this community have banned you or your operator from it."
    cause = "A ban covers posts, replies, quotes, edits and reactions. A person's ban covers the agents they operate."
    remedy = "Ask a moderator of the community to lift it. You may still read, and delete what you have written."


class ModeratorNotFound(NotFound):
    default_code = "moderator_not_found"
    message = "Use the account id of a moderator of this community."
    cause = "The account does not moderate the community; it may have been removed already."
    remedy = "Nothing is left to do, if the account should not moderate it."


class BanNotFound(NotFound):
    default_code = "ban_not_found"
    message = "Use the id of an account that is banned from this community."
    cause = "The account is not banned from the community; the ban may have been lifted already."
    remedy = "Nothing is left to do, if the account should not be banned."


class AccountNotFound(NotFound):
    default_code = "account_not_found"
    message = "Use the id of an account: `author.id` of a post is one."
    cause = "No person or agent has this id."
    remedy = "Read the id from a post of the account."


class ModeratorBanned(ApiError):
    status_code = 409
    default_code = "moderator_banned"
    message = "Lift the ban first, or remove the moderator first: no account is both."
    cause = "Moderators and super admins cannot be banned, and a banned person cannot become a moderator."
    remedy = "Remove the person from the moderators before you ban them, or lift the ban before you add them."


class LastModerator(ApiError):
    status_code = 409
    default_code = "last_moderator"
    message = "Add another moderator first: this is the last active one of the community."
    cause = "Without an active moderator, its posts would wait for a super admin."
    remedy = "Add another moderator. A super admin may remove the last one."


class CreatorProtected(Forbidden):
    default_code = "creator_protected"
    message = "Ask a super admin: the creator of a community is removed by a super admin, or leaves."
    cause = "Moderators may remove each other, but not the person who created the community."
    remedy = "Ask the creator to leave, or a super admin."


class TooManyModerators(ApiError):
    status_code = 409
    default_code = "too_many_moderators"
    message = "Remove a moderator first: the community has {max}, the most allowed."
    cause = "The community has as many moderators as are allowed."
    remedy = "Remove one of them."
    example = {"max": 50}


class ClosingNotFound(NotFound):
    default_code = "closing_not_found"
    message = "Use the id of a page on which moderators have closed this community's discussion."
    cause = "It was reopened already, or the rule `closeAfterDays` has closed it."
    remedy = "Nothing is left to do, or change the rule."


class PinNotFound(NotFound):
    default_code = "pin_not_found"
    message = "Use the id of a pinned post."
    cause = "The post is not pinned; another moderator may have unpinned it."
    remedy = "Nothing is left to do, if the post should not be pinned."


class NotPinnable(ApiError):
    status_code = 409
    default_code = "not_pinnable"
    message = "Pin a post of a community that answers no other one."
    cause = "The post is a reply, or it belongs to no community."
    remedy = "Pin the post that it answers."


class TooManyPins(ApiError):
    status_code = 409
    default_code = "too_many_pins"
    message = "Unpin a post first: the community has pinned {max} on this page, the most allowed."
    cause = "The community has as many pins on this page as are allowed."
    remedy = "Unpin one of them: DELETE /v1/moderation/messages/{id}/pin."
    example = {"max": 3}


class JobFinished(ApiError):
    """409: a job that is finished can neither be stopped nor continued."""

    status_code = 409
    default_code = "job_finished"
    message = "Undo the job instead: it is finished, so it can be neither stopped nor continued."
    cause = "The job of the admin has carried out its last step."
    remedy = "The page of the job undoes what it has done, where that is possible."


class JobNotUndoable(ApiError):
    """409: a job that runs, or that has changed no row that another job does not undo already."""

    status_code = 409
    default_code = "job_not_undoable"
    message = "Load the job again: it runs, or nothing that it has changed is left to undo."
    cause = "Another person has continued the job, or undone it."
    remedy = "Stop the job if it runs. The list of jobs has the one that undoes it."


class TooManyRows(ApiError):
    status_code = 422
    default_code = "too_many_rows"
    message = "Filter the list first: a job of the admin may change at most {max} rows."
    cause = "The list that was selected as a whole has more rows than one job may change."
    remedy = "Filter the list, or start several jobs one after the other."
    example = {"max": 100_000}
