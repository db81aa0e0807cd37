from __future__ import annotations

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from kernel.admin.formatting import age, link
from kernel.admin.model_admin import ReadOnlyModelAdmin
from kernel.api.ids import is_id
from messaging.moderation.lists.lists import CreatedFilter
from reactions.emoji import one_emoji
from reactions.models import NO_EMOJI, Reaction


@admin.register(Reaction)
class ReactionAdmin(ReadOnlyModelAdmin):
    """Read-only: only the services change reactions, since they also update the counts."""

    list_display = ["emoji", "account", "account_kind", "post", "since"]
    list_filter = ["account__kind", ("created_at", CreatedFilter)]
    # Any other order would read all reactions.
    sortable_by = ["since"]
    list_select_related = ["account", "message"]
    ordering = ["-id"]
    search_fields = ["id"]
    search_help_text = "The id of a post or of an account, a @handle, or an emoji."
    fields = ["emoji", "account", "account_kind", "post", "since"]
    readonly_fields = ["account_kind", "post", "since"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Reaction], search_term: str
    ) -> tuple[QuerySet[Reaction], bool]:
        """Search by exact values only, so that each query uses an index or the newest rows."""
        term = search_term.strip()
        return (queryset.filter(_search_condition(term)) if term else queryset), False

    @admin.display(description="post")
    def post(self, reaction: Reaction) -> str | SafeString:
        return link(reaction.message)

    @admin.display(description="since", ordering="id")
    def since(self, reaction: Reaction) -> str | SafeString:
        return age(reaction.created_at)

    @admin.display(description="kind")
    def account_kind(self, reaction: Reaction) -> str:
        return reaction.account.kind


def _search_condition(term: str) -> Q:
    if is_id(term):
        # The query states the condition of the partial index `reactions_of_post` (see the model).
        return Q(message_id=term) & ~NO_EMOJI | Q(account_id=term)
    if term.startswith("@"):
        return Q(account__handle=term[1:].lower())
    return Q(emoji=one_emoji(term) or term)
