"""Forms that change a site by the body of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import QueryDict

from account_area.comparing import ComparedForm
from account_area.sites.queries import locked
from embeds.models import Embed
from embeds.serializers.inputs import EmbedChanges
from embeds.services import update_embed
from kernel.api.serializers import validated
from messaging.models import Account


class EditForm(ComparedForm):
    """A form on some fields of an embed. A subclass maps its fields to the API's body: `{field: (part, …)}`."""

    # Where a field is in the body of updateEmbedInstance.
    parts: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __init__(self, embed: Embed, data: QueryDict | None = None) -> None:
        super().__init__(self.values_of(embed), data)
        self.embed = embed

    def values_of(self, embed: Embed) -> dict[str, Any]:
        """The values of the row, as the fields clean them."""
        raise NotImplementedError

    def save(self, owner: Account) -> bool:
        """Save the changed fields. False: the form has errors."""
        if not self.is_valid():
            return False
        self.carry_out(self._update, owner=owner)
        return self.is_valid()

    def _update(self, *, owner: Account) -> Embed:
        """`embed` is the row as it is locked, then as it is saved."""
        body: dict[str, Any] = {}
        self.embed = locked(self.embed.pk)
        for name, value in self.changes(self.values_of(self.embed)).items():
            *outer, last = self.parts[name]
            target = body
            for part in outer:
                target = target.setdefault(part, {})
            target[last] = self.sent(name, value)
        if body:
            self.embed = update_embed(embed_id=self.embed.pk, owner=owner, **self.checked(body))
        return self.embed

    def sent(self, name: str, value: Any) -> Any:
        """A value of the form as the API takes it."""
        return value

    def checked(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the service, checked as the API checks them; raises an ApiError."""
        return validated(EmbedChanges, body)
