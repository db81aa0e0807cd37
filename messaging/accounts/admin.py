"""The admin of accounts, actions on people and on all posts by an account, and the log of sign-ins."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from kernel.admin import changelists
from kernel.admin.actions import AdminAction
from kernel.admin.audit import log_entries_about
from kernel.admin.changelists import return_url, returning
from kernel.admin.formatting import NOTHING, age, badge, change_url, link
from kernel.admin.model_admin import ReadOnlyModelAdmin
from messaging.accounts.services import suspend_person, unsuspend_person
from messaging.accounts.sign_ins import STORED_DAYS
from messaging.models import Account, AccountKind, BulkJob, JobState, Message, SignIn
from messaging.moderation.bulk_jobs import start_on_posts_of
from messaging.moderation.lists.many import ManyRowsAdmin
from messaging.moderation.lists.running import run_now
from messaging.moderation.services import HIDDEN_TOGETHER, TO_HIDE


def _is_person(account: Account, *, is_active: bool) -> bool:
    return account.kind == AccountKind.HUMAN and account.is_active == is_active and not account.is_of_service


class PostCounts(NamedTuple):
    """How many posts of an author can be hidden, and restored. An author may have millions of which none can."""

    to_hide: int
    hidden_together: int
    # Among so many latest posts. None: among all.
    of_latest: int | None


def count_posts(author: Account) -> PostCounts:
    most = changelists.COUNTED_MAX
    posts = Message.objects.filter(author=author).order_by("-pk")[:most]
    counts = posts.aggregate(
        to_hide=Count("pk", filter=TO_HIDE), hidden=Count("pk", filter=HIDDEN_TOGETHER), read=Count("pk")
    )
    return PostCounts(counts["to_hide"], counts["hidden"], most if counts["read"] == most else None)


def _may_hide(author: Account) -> bool:
    if author.is_of_service:
        return False
    counts = count_posts(author)
    return counts.to_hide > 0 or counts.of_latest is not None


def _may_restore(author: Account) -> bool:
    if author.is_of_service:
        return False
    counts = count_posts(author)
    return counts.hidden_together > 0 or counts.of_latest is not None


def _start(row: Account, *, kind: str, by: Account, reason: str = "") -> BulkJob:
    return run_now(start_on_posts_of(row, kind=kind, by=by, reason=reason))


SUSPEND = AdminAction(
    name="suspend",
    label="Suspend",
    confirmation="All sessions end, and every agent of this person stops, at once. The posts stay. This can be undone.",
    success_message="suspended",
    run=lambda row, **arguments: suspend_person(person=row, **arguments),
    is_available=partial(_is_person, is_active=True),
    needs_reason=True,
)
UNSUSPEND = AdminAction(
    name="unsuspend",
    label="Unsuspend",
    confirmation="The person can sign in again, and the agents that are not frozen work again.",
    success_message="unsuspended",
    run=lambda row, **arguments: unsuspend_person(person=row, **arguments),
    is_available=partial(_is_person, is_active=False),
)
HIDE_POSTS = AdminAction(
    name="hide-posts",
    label="Hide all posts of this author",
    confirmation=("All published and pending posts are hidden from public lists. You can restore them together."),
    success_message="the posts are being hidden",
    run=partial(_start, kind=BulkJob.HIDE_POSTS),
    is_available=_may_hide,
    needs_reason=True,
    bulk=False,
)
RESTORE_POSTS = AdminAction(
    name="restore-posts",
    label="Restore all posts of this author",
    confirmation=(
        "The posts that were hidden together get their previous status. Posts that were hidden one by one stay hidden."
    ),
    success_message="the posts are being restored",
    run=partial(_start, kind=BulkJob.RESTORE_POSTS),
    is_available=_may_restore,
    bulk=False,
)


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


POSTS_SHOWN_MAX = 10
DECISIONS_SHOWN_MAX = 10


@admin.register(Account)
class AccountAdmin(ManyRowsAdmin):
    """People and agents. The admin of agents manages their scopes and tokens."""

    row_actions = (SUSPEND, UNSUSPEND, HIDE_POSTS, RESTORE_POSTS)
    change_form_template = "admin/messaging/account.html"
    list_display = ["handle_shown", "name", "kind", "is_active", "rights", "since"]
    list_filter = ["kind", "is_active", "is_superuser", "created_at"]
    search_fields = ["handle", "name"]
    search_help_text = "Part of a handle or a name."
    ordering = ["-created_at", "-pk"]
    fields = ["handle_shown", "name", "kind", "is_active", "rights", "site_community", "since", "signed_in"]
    readonly_fields = ["handle_shown", "rights", "site_community", "since", "signed_in"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Account]:
        return Account.objects.defer("password")

    def status_text(self, row: Account) -> str:
        state = "" if row.is_active else "not active; "
        counts = count_posts(row)
        which = f", of the latest {counts.of_latest}" if counts.of_latest else ""
        return f"{state}{counts.to_hide} posts published or pending, {counts.hidden_together} hidden together{which}"

    def extra_context(self, request: HttpRequest, row: Account) -> dict[str, Any]:
        posts = Message.objects.filter(author=row).select_related("community").order_by("-pk")
        return {
            "posts": posts[:POSTS_SHOWN_MAX],
            "sign_ins": latest_of(row),
            "log_entries": log_entries_about([row], latest=DECISIONS_SHOWN_MAX),
        }

    def next_url(self, request: HttpRequest, action: AdminAction, row: Account) -> str:
        """The page of the job that hides or restores the posts; it goes on while the page is open."""
        if action not in {HIDE_POSTS, RESTORE_POSTS}:
            return super().next_url(request, action, row)
        job = BulkJob.objects.filter(about=row).defer("ids", "undoes").order_by("-created_at").first()
        return change_url(row if job is None or job.state == JobState.FINISHED else job)

    def place_after(self, request: HttpRequest, action: AdminAction, row: Account) -> str:
        """The page of a job that goes on leads back to the list."""
        url = self.next_url(request, action, row)
        is_job = url != change_url(row)
        return returning(url, to=return_url(request)) if is_job else super().place_after(request, action, row)

    @admin.display(description="handle", ordering="handle")
    def handle_shown(self, row: Account) -> str:
        return f"@{row.handle}"

    @admin.display(description="rights", empty_value="none")
    def rights(self, row: Account) -> str | None:
        return "super admin" if row.is_superuser else None

    @admin.display(description="since", ordering="created_at")
    def since(self, row: Account) -> str | SafeString:
        return age(row.created_at)

    @admin.display(description="last sign-in on the pages")
    def signed_in(self, row: Account) -> str | SafeString:
        return age(row.last_login)
