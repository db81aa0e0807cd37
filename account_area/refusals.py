"""The sentences of refusals on pages, in the person's language. The API's own messages are English."""

from __future__ import annotations

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.api.exceptions import ApiError

SENTENCES = {
    "not_found": _("There is no such page, or it is not yours."),
    "forbidden": _("You may not do this."),
    "method_not_allowed": _("This page cannot be opened like that. Go back and try again."),
    "rate_limited": _("Too many requests. Wait %(seconds)s seconds, then try again."),
    "temporarily_unavailable": _("The service is busy for a moment. Nothing was changed; try again."),
    "handle_taken": _("This handle is already in use. Choose another one."),
    "payload_too_large": _("This is too long."),
    "person_not_found": _("No person has this handle."),
    "account_not_found": _("Nobody has this handle."),
    "slug_taken": _("A community has this name in addresses already. Choose another one."),
    "too_many_communities": _("You have created as many communities as a person may."),
    "community_creation_closed": _("Only super admins create communities here. Ask the operator of the service."),
    "message_state_changed": _("Another moderator has decided meanwhile. Look at the post again."),
    "moderator_required": _("You are not a moderator of this community any more."),
    "moderator_banned": _("Moderators cannot be banned. Remove the moderator, or lift the ban first."),
    "moderator_not_found": _("They do not moderate this community any more."),
    "ban_not_found": _("The ban was lifted already."),
    "last_moderator": _("You are the last moderator. Add another one first."),
    "creator_protected": _("The creator leaves by themselves, or is removed by a super admin."),
    "too_many_moderators": _("The community has as many moderators as are allowed."),
}


def sentence(error: ApiError) -> str:
    """What to do about a refusal. A code without a translation has the API's message."""
    known = SENTENCES.get(error.default_code)
    if known is None:
        return gettext(error.message)
    return str(known) % {"seconds": error.fields.get("retryAfter", "")}
