"""Parts the authors whom an earlier release took for one, by their mail address, when their file comes again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernel.cache.rendering import to_json
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import database_now, execute, fetch_all
from messaging.moderation.bulk_jobs import is_changing_all_posts
from messaging.moderation.reporting import move_closing
from moving.formats.records import folded, id_by_mail
from moving.imports.authors import accounts_of
from moving.imports.staging import StagedPost
from moving.imports.texts import source_id_of
from moving.models import Move

# It finds posts whose author nobody has claimed.
MERGED = """
SELECT imported.source_id, message.id, account.id, account.name
FROM moving_importedpost imported JOIN messaging_message message ON message.id = imported.message_id
JOIN messaging_account account ON account.id = message.author_id
WHERE imported.community_id = %(community)s AND imported.format = %(format)s AND imported.source_id = ANY(%(posts)s)
AND EXISTS (
    SELECT FROM moving_importedauthor author
    WHERE author.community_id = %(community)s AND author.format = %(format)s AND author.source_id = ANY(%(authors)s)
        AND author.account_id = account.id AND author.claimed_at IS NULL
)
"""
LOCK = "SELECT FROM messaging_message WHERE id = ANY(%s::uuid[]) ORDER BY id FOR NO KEY UPDATE"
# A person may have claimed the post meanwhile.
GIVE = """
UPDATE messaging_message message SET author_id = given.author_id, updated_at = %s
FROM json_to_recordset(%s::json) AS given (id uuid, author_id uuid, was uuid)
WHERE message.id = given.id AND message.author_id = given.was
"""


def part_authors(posts: Iterable[StagedPost], *, move: Move, site: str) -> None:
    """Give those of these posts, which are here already, to the author whose name the file has. In a transaction."""
    staged = {source_id_of(post.source_id, site=site): post for post in posts if id_by_mail(post.author_id)}
    if not staged:
        return
    authors = {source_id_of(id_by_mail(post.author_id), site=site) for post in staged.values()}
    values: dict[str, Any] = {"community": move.community_id, "format": move.format}
    rows = fetch_all(MERGED, values | {"posts": list(staged), "authors": list(authors)})
    others = [(staged[source_id], *row) for source_id, *row in rows if _is_another(staged[source_id], row[-1])]
    # A job that hides or restores all posts of an account would miss those that leave it.
    busy = {account for account in sorted({row[2] for row in others}) if is_changing_all_posts(account)}
    others = [row for row in others if row[2] not in busy]
    if not others:
        return
    accounts = accounts_of((post for post, *_row in others), move=move, site=site)
    ids, now = [row[1] for row in others], database_now()
    execute(LOCK, [ids])
    move_closing(ids, to=now)
    given = [{"id": row[1], "author_id": accounts[row[0].author_id], "was": row[2]} for row in others]
    execute(GIVE, [now, to_json(given).decode()])
    invalidate(EVERYTHING)


def _is_another(post: StagedPost, name: str) -> bool:
    return folded(post.author_name) != folded(name)
