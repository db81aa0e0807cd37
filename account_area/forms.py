"""The base of the forms: they look alike, and show on their fields what a service refuses.

The sentences of refusals on pages, in the person's language. The API's own messages are English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.forms.renderers import TemplatesSetting
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from kernel.api.exceptions import ApiError, InvalidInput
from kernel.writes.transaction import retried
from messaging.accounts.exceptions import SignInClosed
from messaging.word_lists import Fault

# What is wrong with an entry of a word list.
WORD_FAULTS: dict[str, Any] = {
    Fault.TOO_LONG: _("This is too long."),
    Fault.NO_LETTER: _("A blocked word needs a letter or a digit."),
    Fault.TOO_MANY_SIGNS: _("A blocked word has at most four signs on either side."),
    Fault.LIST_TOO_LARGE: _("All entries together are too long. Remove some."),
}


class MultilineField(forms.CharField):
    """A text of lines as the API has it: browsers send each line end of a form as two characters."""

    def __init__(self, *, rows: int, **options: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": rows}), **options)

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        return text.replace("\r\n", "\n")


SENTENCES = {
    "not_found": _("There is no such page, or it is not yours."),
    "forbidden": _("You may not do this."),
    "method_not_allowed": _("This page cannot be opened like that. Go back and try again."),
    "rate_limited": _("Too many requests. Wait %(seconds)s seconds, then try again."),
    "temporarily_unavailable": _("The service is busy for a moment. Nothing was changed; try again."),
    "handle_taken": _("This handle is already in use. Choose another one."),
    "not_owner": _("You may not do this."),
    "not_author": _("You may not do this."),
    "message_not_found": _("There is no such page, or it is not yours."),
    "content_too_long": _("This is too long."),
    "embed_not_found": _("There is no such page, or it is not yours."),
    "embed_disabled": _("An administrator disabled this site. Only they can enable it."),
    "community_not_found": _("There is no such community."),
    "too_many_communities": _("You have made as many communities as one person may. Choose one that exists."),
    "community_creation_closed": _("New communities cannot be made here. Choose one that exists."),
    "invalid_request": _("This program cannot be connected: what it sent is wrong. Start again in the program."),
    "program_not_found": _("You have revoked this program, or never let it in."),
    "agent_not_found": _("There is no such page, or it is not yours."),
    "request_not_found": _("There is no such page, or it is not yours."),
    "token_not_found": _("There is no such page, or it is not yours."),
    "webhook_not_found": _("There is no such page, or it is not yours."),
    "webhook_target_not_found": _("There is no such page, or it is not yours."),
    "agent_scope_missing": _("The agent has lost the right to write this."),
    "agent_community_not_allowed": _("The agent has lost the right to write in this community."),
    "waits_for_operator": _("The operator of the agent has not released this post."),
    "draft_not_found": _("The agent has deleted this post."),
    "draft_decided": _("This post is decided already."),
    "request_not_pending": _("The request is decided already."),
    "request_not_approved": _("The request is not approved."),
    "request_pending": _("A request for more rights of this agent waits for a decision already."),
    "too_many_pending_requests": _("Three of your requests wait for a decision. Wait, or withdraw one."),
    "too_many_active_tokens": _("Five tokens work, the most allowed. Replace or revoke one."),
    "token_not_active": _("The token is revoked or expired. Create a new one."),
    "agent_frozen": _("The agent is stopped: a new token would not work."),
    "too_many_webhooks": _("The limit of webhooks is reached, the agent's or yours at this host. Delete one first."),
    "webhook_url_not_allowed": _("Events are sent to https addresses on public hosts only. Choose another address."),
    "webhooks_disabled": _("This service sends no webhooks."),
    "webhook_blocked": _("A super admin disabled this webhook."),
    "device_code_not_found": _("No program waits under this code. Compare it with what the program shows."),
    "device_code_decided": _("This code was confirmed or refused already."),
    "cursor_expired": _("This list has changed. Open it again."),
    "invalid_cursor": _("This list has changed. Open it again."),
    "registration_closed": _("New accounts cannot be created at present."),
    "reaction_not_found": _("This reaction was removed already."),
    "edit_window_closed": _("It is too late to edit this post. You can delete it."),
    "too_many_edits": _("This post was edited too often."),
    "empty_message": _("A post needs a text."),
    "content_blocked": _("This text has a word that is blocked here."),
    "banned_from_community": _("You may not write in this community any more."),
    "community_forbids": _("The rules of the community do not allow this."),
    "export_not_found": _("There is no such export. Exports are deleted after seven days."),
    "too_many_exports": _("You had three exports in the last 24 hours. Try again tomorrow."),
    "export_busy": _("You or others are downloading exports. Try again in a minute."),
    "erasure_not_found": _("There is nothing to cancel any more."),
    "last_super_admin": _("You are the last super admin. Make another person one first."),
    "payload_too_large": _("This is too long."),
    "person_not_found": _("No person has this handle."),
    "account_not_found": _("Nobody has this handle."),
    "slug_taken": _("A community has this name in addresses already. Choose another one."),
    "message_state_changed": _("Another moderator has decided meanwhile. Look at the post again."),
    "message_edited": _("The author edited this post after you read it. Read it again."),
    "moderator_required": _("You are not a moderator of this community any more."),
    "moderator_banned": _("Moderators cannot be banned. Remove the moderator, or lift the ban first."),
    "moderator_not_found": _("They do not moderate this community any more."),
    "ban_not_found": _("The ban was lifted already."),
    "last_moderator": _("You are the last moderator. Add another one first."),
    "creator_protected": _("The creator leaves by themselves, or is removed by a super admin."),
    "invalid_map": _("Write each replacement as OLD=NEW, one a line."),
    "invalid_map_file": _("Send a CSV file of two columns, or the report with a column “url” beside “address”."),
    "invalid_map_row": _("Correct row %(row)s of the file of addresses: its new address is none."),
    "file_too_large": _("This file is too large to be uploaded."),
    "import_not_found": _("There is no such page, or it is not yours."),
    "import_report_not_found": _(
        "No report of this import is stored. Reports are deleted after 180 days, or for newer ones."
    ),
    "import_busy": _("Wait until the current step of this import has ended."),
    "import_under_way": _(
        "Your other import is not finished. Wait until it has ended, then try again: one goes at a time."
    ),
    "import_storage_full": _(
        "There is no room for more files of imports at the moment, and nothing of yours was stored. Try again in an "
        "hour, or ask the operator of the service."
    ),
    "posts_changing": _("An administrator is changing these posts. Try again in a few minutes."),
    "job_not_undoable": _("This was undone already, or is not done yet. Open the page again."),
    "host_not_found": _("This host was removed already."),
    "too_many_hosts": _("The community has as many hosts as are allowed. Remove one first."),
    "domain_checks_off": _("This service proves no hosts."),
    "discussion_closed": _("This discussion is closed."),
    "closing_not_found": _("Moderators have not closed this discussion, or it was reopened already."),
    "pin_not_found": _("This post is not pinned any more."),
    "not_pinnable": _("Only posts of the community that answer no other post can be pinned."),
    "too_many_pins": _("Three posts are pinned on this page, the most allowed. Unpin one first."),
    "too_many_moderators": _("The community has as many moderators as are allowed."),
}
# A browser in which nobody of the account has signed in, after the wrong passwords of strangers.
CLOSED = _(
    "Too many wrong passwords. If you have confirmed a mail address, look there for our mail: its link lets you sign "
    "in with this browser. Else wait %(seconds)s seconds, then try again."
)


def sentence(error: ApiError) -> str:
    """What to do about a refusal. A code without a translation has the API's message."""
    known = SENTENCES.get(error.default_code)
    if known is None:
        return gettext(error.message)
    if isinstance(error, SignInClosed):
        known = CLOSED
    return str(known) % {"seconds": error.fields.get("retryAfter", ""), "row": getattr(error, "row", "")}


Result = TypeVar("Result")
# Statuses that a person can mend in the form; others are pages.
IN_FORM = frozenset({400, 403, 409, 422, 429})
CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")


class FieldRenderer(TemplatesSetting):
    form_template_name = "account_area/parts/form.html"
    field_template_name = "account_area/parts/field.html"


class AccountForm(forms.Form):
    """A form whose `carry_out` calls a service.

    `{{ form }}` renders its fields, `{{ form.name.as_field_group }}` one of them. `api_fields` maps the API's names to
    names of fields where these differ in more than the case: `{"communityId": "community"}`.
    """

    default_renderer = FieldRenderer
    api_fields: Mapping[str, str] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix = ""

    def carry_out(self, service: Callable[..., Result], **arguments: Any) -> Result | None:
        """Call the service in a transaction, again if it is aborted. None: it refused, and the form has the errors."""
        return self.carry_out_alone(retried(transaction.atomic(service)), **arguments)

    def carry_out_alone(self, service: Callable[..., Result], **arguments: Any) -> Result | None:
        """The same without a transaction, for a service that takes long."""
        try:
            return service(**arguments)
        except (ApiError, ValidationError) as failure:
            self.refuse(failure)
            return None

    def refuse(self, failure: ApiError | ValidationError) -> None:
        """Show a refusal on its fields; raises it again if a form cannot show it."""
        if isinstance(failure, ValidationError):
            self._add_messages(failure)
            return
        if failure.status_code not in IN_FORM and "field" not in failure.fields:
            raise failure
        details = failure.fields.get("details") if isinstance(failure, InvalidInput) else None
        for fault in details or [{"pointer": failure.fields.get("field", ""), "message": sentence(failure)}]:
            self.add_error(self._field_of(str(fault["pointer"])), str(fault["message"]))

    def _add_messages(self, failure: ValidationError) -> None:
        if not hasattr(failure, "error_dict"):
            self.add_error(None, failure)
            return
        for name, errors in failure.error_dict.items():
            self.add_error(name if name in self.fields else None, errors)

    def _field_of(self, pointer: str) -> str | None:
        """The field for a JSON pointer, `a[0].b` or a name of the API; None: the error is the whole form's."""
        name = next(iter(re.findall(r"\w+", pointer)), "")
        own = self.api_fields.get(name) or CAMEL.sub(r"_\1", name).lower()
        return own if own in self.fields else None
