"""The base of the forms: they look alike, and show on their fields what a service refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.forms.renderers import TemplatesSetting

from account_area.refusals import sentence
from kernel.api.exceptions import ApiError, InvalidInput
from kernel.writes.retries import retried

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
