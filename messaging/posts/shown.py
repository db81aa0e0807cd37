"""What the widget of an embed shows, as SQL conditions on a row of messages.

An embed shows the posts of its community, or with `everyone` what anybody writes about a page, without what the
community has hidden there and what those have written or edited whom it has banned before.

The conditions for posts that the public API returns, as SQL about a row of messages.

The conditions of the indexes are the same (see the model).

The newest public posts of a page, or its newest replies, as SQL: of what an embed shows, among a bounded number.

No index has all posts of a page: PostgreSQL would use it for the lists of a page with many replies. So posts and
replies are read from one index each.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from kernel.database.sql import fetch_all


def is_public(alias: str) -> str:
    """Published, and no post that it answers, directly or not, is hidden or pending."""
    return f"{alias}.status = 'published' AND NOT {alias}.in_hidden_thread"


def is_no_draft(alias: str) -> str:
    """The post is not one that the operator of its agent has still to release, or has rejected."""
    return f"coalesce({alias}.operator_review, 'released') = 'released'"


def is_listed(alias: str) -> str:
    """Published, or a tombstone. Its thread is not checked: that of all replies to a post is the post's."""
    return f"({alias}.status = 'published' OR {alias}.is_tombstone)"


def is_visible(alias: str) -> str:
    """Public, or a tombstone in a public thread."""
    return f"{is_listed(alias)} AND NOT {alias}.in_hidden_thread"


OWN = "{m}.community_id = %(shown)s"
# The expression is that of the indexes `shown_posts` and `shown_posts_by_reactions`.
OWN_POST = "coalesce({m}.community_id, {m}.id) = %(shown)s AND {m}.community_id IS NOT NULL"
NOT_HIDDEN = """NOT EXISTS (
    SELECT FROM messaging_hiddenhere hidden WHERE hidden.community_id = %(shown)s AND hidden.message_id = {m}.id
)"""
NOT_IN_HIDDEN_THREAD = "NOT messaging_is_hidden_here({m}.id, %(shown)s)"
# An edit after the ban is written after it.
NOT_BANNED = """NOT EXISTS (
    SELECT FROM messaging_ban ban WHERE ban.community_id = %(shown)s
        AND ban.created_at < coalesce({m}.edited_at, {m}.created_at)
        AND ban.account_id IN ({m}.author_id, {operator})
)"""
# The names of a host with its port and without it, and of the domains that it is below. They are compared as a whole,
# which PostgreSQL does by a hash: a pattern for each of many entries would be tried on every row.
ON_ITS_HOSTS = """({m}.community_id = %(shown)s OR EXISTS (
    SELECT FROM messaging_page place,
        LATERAL (SELECT split_part(place.normalized_url, '/', 3) AS host) named,
        LATERAL (SELECT regexp_replace(host, ':[0-9]+$', '') AS name) of_any_port,
        LATERAL (SELECT string_to_array(host, '.') AS host_labels, string_to_array(name, '.') AS name_labels) split
    WHERE place.id = {m}.page_id AND (host = ANY(%(hosts)s) OR name = ANY(%(names)s) OR EXISTS (
        SELECT FROM generate_series(2, cardinality(host_labels)) label
        WHERE array_to_string(host_labels[label:], '.') = ANY(%(hosts_below)s)
            OR array_to_string(name_labels[label:], '.') = ANY(%(names_below)s)
    ))
))"""
PORT = re.compile(r":([0-9]+)\Z")
DEFAULT_PORTS = {"80", "443"}
SHOWN_AMONG = "SELECT m.id FROM messaging_message m WHERE m.id = ANY(%(ids)s::uuid[]) AND {condition}"


@dataclass(frozen=True, slots=True)
class Shown:
    """The posts that the widgets of a community show.

    `everyone`: those of others too; `is_filtered`: the community has hidden posts there or has banned accounts;
    `has_pins`: it has pinned posts on some page.
    `whitelist` has the entries of the embed, which name the pages that a search in all of them is about.
    """

    community_id: UUID
    everyone: bool = False
    is_filtered: bool = False
    has_pins: bool = False
    whitelist: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, Any]:
        """The values of every condition."""
        return {"shown": self.community_id, **_hosts_of(self.whitelist if self.everyone else ())}

    def posts(self, alias: str) -> str:
        """The condition on a post that answers none, which an index of the page's lists serves."""
        return self._unfiltered(alias) if self.everyone else OWN_POST.format(m=alias)

    def replies(self, alias: str) -> str:
        """The condition on replies to a post that is shown: they have its community."""
        return self._unfiltered(alias) if self.everyone else "true"

    def any(self, alias: str) -> str:
        """The condition on a post wherever it is, with the posts that it answers."""
        if not self.everyone:
            return OWN.format(m=alias)
        if not self.is_filtered:
            return "true"
        return f"{self._unfiltered(alias)} AND {NOT_IN_HIDDEN_THREAD.format(m=alias)}"

    def on_its_pages(self, alias: str) -> str:
        """The condition on a row with a page and a community: it is of this community, or of a page of the embed."""
        return (ON_ITS_HOSTS if self.everyone else OWN).format(m=alias)

    def _unfiltered(self, alias: str) -> str:
        if not self.is_filtered:
            return "true"
        not_banned = NOT_BANNED.format(m=alias, operator=_operator_of(f"{alias}.author_id"))
        return f"{NOT_HIDDEN.format(m=alias)} AND {not_banned}"


def _hosts_of(whitelist: Collection[str]) -> dict[str, list[str]]:
    """The values of ON_ITS_HOSTS: hosts with their port, names of any port, and the domains of those that are below.

    As `embeds.host_proofs.is_named` decides: a page has no `www.` and no default port in its address, so
    `www.example.com` and `*.example.com` name the pages of `example.com`.
    """
    values: dict[str, list[str]] = {"hosts": [], "names": [], "hosts_below": [], "names_below": []}
    for entry in whitelist:
        port = PORT.search(entry)
        kind = "names" if port is None else "hosts"
        host = entry[: port.start()] if port is not None and port[1] in DEFAULT_PORTS else entry
        if host.startswith("*."):
            host = host.removeprefix("*.")
            values[f"{kind}_below"].append(host)
        values[kind] += [host, host.removeprefix("www.")]
    return values


@cache
def _operator_of(account: str) -> str:
    """The SQL expression for the operator of an account, by the setting OPERATOR_OF."""
    expression: str = import_string(settings.OPERATOR_OF)
    return expression.format(account=account)


def shown_among(ids: Collection[UUID], shown: Shown) -> set[UUID]:
    """Those of these posts that the widget shows."""
    if not ids:
        return set()
    statement = SHOWN_AMONG.format(condition=shown.any("m"))
    return {message_id for (message_id,) in fetch_all(statement, {"ids": list(ids), **shown.values})}


def left_out_of(ids: Collection[UUID], shown: Shown, *, of_page: bool) -> set[UUID | None]:
    """Those of these posts that exist and that the widget does not show. `of_page`: they are of a page asked for."""
    if not ids:
        return set()
    place = "true" if of_page else shown.on_its_pages("m")
    # A post without a community makes a comparison null.
    statement = SHOWN_AMONG.format(condition=f"({place} AND {shown.any('m')}) IS NOT TRUE")
    return {message_id for (message_id,) in fetch_all(statement, {"ids": list(ids), **shown.values})}


def without_foreign_quotes(messages: list[dict[str, Any]], shown: Shown | None) -> list[dict[str, Any]]:
    """The messages with `quote: null` where the widget does not show the quoted post. Top replies too."""
    if shown is None:
        return messages
    listed = [*messages, *(message["topReply"] for message in messages if message.get("topReply"))]
    quoting = [message for message in listed if message["quote"] is not None]
    visible = shown_among({message["quoteId"] for message in quoting}, shown)
    for message in quoting:
        if message["quoteId"] not in visible:
            message["quote"] = None
    return messages


# So many posts of a page that an embed does not show are passed over; fewer where the thread of each is walked.
PASSED_MAX, WALKED_MAX = 5_000, 500
NEWEST_FIRST = "ORDER BY m.created_at DESC, m.id DESC"


def newest_of_page(
    columns: str, *, of_replies: bool, limit: int, shown: Shown | None = None, page: str = "%(page)s"
) -> str:
    """A statement for `columns` of a row `m` of messages. The limits are literals, as in `message_lists`."""
    rows = f"m.page_id = {page} AND m.parent_id IS {'NOT NULL' if of_replies else 'NULL'} AND {is_public('m')}"
    condition = "true"
    if shown is not None:
        # Only a reply has posts above it that may be hidden there.
        condition = shown.any("m") if of_replies else shown.posts("m")
    if shown is None or condition == "true" or not (of_replies or shown.everyone):
        # An index has these rows alone.
        return f"SELECT {columns} FROM messaging_message m WHERE {rows} AND {condition} {NEWEST_FIRST} LIMIT {limit}"  # noqa: S608  constants
    passed_max = WALKED_MAX if shown.everyone else PASSED_MAX
    passed = f"SELECT m.* FROM messaging_message m WHERE {rows} {NEWEST_FIRST} LIMIT {passed_max}"  # noqa: S608  as above
    return f"SELECT {columns} FROM ({passed}) m WHERE {condition} {NEWEST_FIRST} LIMIT {limit}"  # noqa: S608  as above
