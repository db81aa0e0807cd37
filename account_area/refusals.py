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
    "edit_window_closed": _("It is too late to edit this post. You can delete it."),
    "too_many_edits": _("This post was edited too often."),
    "content_blocked": _("This text has a word that is blocked here."),
    "community_forbids": _("The rules of the community do not allow this."),
    "export_not_found": _("There is no such export. Exports are deleted after seven days."),
    "too_many_exports": _("You had three exports in the last 24 hours. Try again tomorrow."),
    "erasure_not_found": _("There is nothing to cancel any more."),
    "last_super_admin": _("You are the last super admin. Make another person one first."),
    "payload_too_large": _("This is too long."),
}


def sentence(error: ApiError) -> str:
    """What to do about a refusal. A code without a translation has the API's message."""
    known = SENTENCES.get(error.default_code)
    if known is None:
        return gettext(error.message)
    return str(known) % {"seconds": error.fields.get("retryAfter", "")}
