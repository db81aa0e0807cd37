"""The log of sign-ins: a list for all people, and the latest ones on the page of a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from kernel.admin.formatting import NOTHING, age, badge, link
from kernel.admin.model_admin import ReadOnlyModelAdmin
from messaging.models import Account, SignIn
from messaging.services.sign_ins import STORED_DAYS

SHOWN_MAX = 10


class RefusedFilter(SimpleListFilter):
    """Both choices are found by an index."""

    title = "result"
    parameter_name = "refused"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Refused")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[SignIn]) -> QuerySet[SignIn]:
        return queryset.filter(refused=True) if self.value() else queryset


@admin.register(SignIn)
class SignInAdmin(ReadOnlyModelAdmin):
    list_display = ["who", "signed_in", "network_shown", "factors", "door_shown", "result"]
    list_display_links = None
    list_filter = [RefusedFilter, "at"]
    list_select_related = ["account"]
    search_fields = ["network"]
    search_help_text = (
        f"A whole @handle, or the beginning of a network. Sign-ins are deleted after {STORED_DAYS} days; those on the "
        "pages, in the widget and with the API are listed, and those that were refused, or whose second factor was not "
        "given."
    )
    ordering = ["-pk"]
    fields = ["who", "signed_in", "network_shown", "factors", "door_shown", "result"]
    readonly_fields = ["who", "signed_in", "network_shown", "factors", "door_shown", "result"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[SignIn], search_term: str
    ) -> tuple[QuerySet[SignIn], bool]:
        """A handle is compared as a whole, so that the index of its account is used."""
        term = search_term.strip().lower()
        if term.startswith("@"):
            ids = Account.objects.filter(handle=term[1:]).values_list("pk", flat=True)
            return queryset.filter(account__in=list(ids)), False
        return (queryset.filter(network__startswith=term) if term else queryset), False

    def title_for(self, row: SignIn) -> str:
        return f"Sign-in of {row.account}" if row.account else "Sign-in with an unknown handle"

    @admin.display(description="who")
    def who(self, row: SignIn) -> str | SafeString:
        return link(row.account) if row.account else "unknown"

    @admin.display(description="when", ordering="pk")
    def signed_in(self, row: SignIn) -> str | SafeString:
        return age(row.at)

    @admin.display(description="network")
    def network_shown(self, row: SignIn) -> str:
        return row.network or NOTHING

    @admin.display(description="by")
    def factors(self, row: SignIn) -> str:
        return described(row)

    @admin.display(description="where")
    def door_shown(self, row: SignIn) -> str:
        return row.get_door_display()

    @admin.display(description="result")
    def result(self, row: SignIn) -> SafeString:
        return result_badge(row)


def result_badge(row: SignIn) -> SafeString:
    if row.unfinished:
        return badge("not given", "bad")
    return badge("refused", "bad") if row.refused else badge("signed in", "good")


def described(row: SignIn) -> str:
    """`password, then code of an app`."""
    shown = (row.get_first_display(), row.get_second_display() if row.second else "")
    return ", then ".join(filter(None, shown))


def latest_of(account: Account) -> Sequence[SignIn]:
    """For the page of the account."""
    rows = list(SignIn.objects.filter(account=account).order_by("-pk")[:SHOWN_MAX])
    for row in rows:
        row.described, row.result = described(row), result_badge(row)  # type: ignore[attr-defined]  # for the template
    return rows
