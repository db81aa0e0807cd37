"""What messaging stores about an account, for its export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from kernel.database.sql import in_batches
from kernel.personal_data import Section
from messaging.models import Account, Message, MessageVersion, PanelSession, PersonExport, Report, SignIn, Webhook
from messaging.pages.permalinks import permalink
from messaging.posts.message_fields import CONTENT_FIELDS

BATCH = 200
OF_AN_ACCOUNT = ("id", "handle", "name", "kind", "language", "is_staff", "is_superuser", "created_at", "last_login")
OF_A_WEBHOOK = (
    *("id", "target_kind", "target_id", "url", "types", "status", "disabled_reason", "disabled_details"),
    *("verified_at", "created_at"),
)
OF_A_REPORT = ("message_id", "reason", "note", "created_at", "closed_at")
OF_A_SESSION = ("id", "created_at", "last_used_at")
OF_A_SIGN_IN = ("at", "network", "door", "first", "second", "refused", "unfinished")
OF_AN_EXPORT = ("id", "status", "requested_at", "finished_at", "size")


def sections(account_id: UUID) -> Iterable[Section]:
    posts = posts_of(account_id)
    yield Section("account", "Your account.", None, _account(account_id))
    yield Section("posts", "Your posts, replies and quotes, with their earlier versions.", posts, post_records(posts))
    yield table("reports", "The posts that you have reported.", Report.objects.filter(reporter=account_id), OF_A_REPORT)
    yield table("webhooks", "Your webhooks.", Webhook.objects.filter(owner=account_id), OF_A_WEBHOOK)
    sessions = PanelSession.objects.filter(account=account_id)
    yield table("panel_sessions", "Where you are signed in to the widget.", sessions, OF_A_SESSION)
    sign_ins = SignIn.objects.filter(account=account_id)
    yield table("sign_ins", "Your sign-ins, and those that were refused.", sign_ins, OF_A_SIGN_IN)
    exports = PersonExport.objects.filter(account=account_id)
    yield table("exports", "The exports that you have asked for.", exports, OF_AN_EXPORT)


def table(name: str, about: str, rows: Any, columns: Iterable[str]) -> Section:
    """Columns of rows as they are stored."""
    names = tuple(columns)
    records = ({column: getattr(row, column) for column in names} for row in in_batches(rows))
    return Section(name, about, rows, records)


def _account(account_id: UUID) -> Iterator[dict[str, Any]]:
    account = Account.objects.get(pk=account_id)
    yield {name: getattr(account, name) for name in OF_AN_ACCOUNT} | {"has_password": account.has_usable_password()}


def posts_of(account_id: UUID) -> Any:
    return Message.objects.filter(author=account_id).select_related("page")


def post_records(posts: Any) -> Iterator[dict[str, Any]]:
    batch: list[Message] = []
    for post in in_batches(posts, BATCH):
        batch.append(post)
        if len(batch) == BATCH:
            yield from _with_versions(batch)
            batch = []
    yield from _with_versions(batch)


def _with_versions(posts: list[Message]) -> Iterator[dict[str, Any]]:
    versions: dict[UUID, list[dict[str, Any]]] = {}
    for version in MessageVersion.objects.filter(message__in=posts).order_by("id"):
        record = version.content | {"replaced_at": version.replaced_at}
        versions.setdefault(version.message_id, []).append(record)
    for post in posts:
        yield {
            "id": post.pk,
            "url": permalink(post.pk),
            "page_url": post.page.normalized_url,
            "community_id": post.community_id,
            "parent_id": post.parent_id,
            "quote_id": post.quote_id,
            "status": post.status,
            **{field.column: getattr(post, field.column) for field in CONTENT_FIELDS},
            "created_at": post.created_at,
            "edited_at": post.edited_at,
            "earlier_versions": versions.get(post.pk, []),
        }
