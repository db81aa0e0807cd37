"""Which pages an import may write on, and which of its posts wait for approval there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from embeds.domains import host_of_url
from embeds.host_proofs import is_named, whitelisted
from kernel.database.sql import fetch_one
from messaging.communities.content_rules import WORD_LIST_COLUMNS, Draft, community_columns, content_rules
from messaging.models import Community
from messaging.pages.page_ids import NormalizedUrl
from messaging.posts.exceptions import ContentBlocked
from moving.exceptions import OtherHosts
from moving.imports.progress import Report
from moving.models import Move

CACHED = 10_000
# A file may name any number of hosts: those after the first ones are counted together.
HOSTS_MAX = 100
OTHERS = "…"
FROM_COMMUNITY = "FROM messaging_community WHERE id = %(community)s"
REASON = "No widget of the community names the host of the address in its whitelist."
ADVICE = "Add the host to the whitelist of the widget (Domains of the site), then import the file again."


class OwnPages:
    """Finds which addresses are on the hosts of the community's embeds, and counts the posts on others by host.

    It reads the whitelists once: a run obeys those of its beginning. `any_host`: every page is taken.
    """

    def __init__(self, move: Move, *, any_host: bool) -> None:
        self._entries = None if any_host else whitelisted(move.community_id)
        self._is_named = lru_cache(CACHED)(self._find)
        self.elsewhere: Counter[str] = Counter()

    def take(self, page: NormalizedUrl) -> bool:
        """Whether a post may be written there; counts one that may not."""
        if self._entries is None or self._is_named(host := host_of_url(page.normalized_url)):
            return True
        known = host in self.elsewhere or len(self.elsewhere) < HOSTS_MAX
        self.elsewhere[host if known else OTHERS] += 1
        return False

    def by_host(self) -> dict[str, int]:
        """The posts that are left out, the most first, and last those of the hosts without a count of their own."""
        return dict(sorted(self.elsewhere.items(), key=lambda each: (each[0] == OTHERS, -each[1])))

    def add_to(self, report: Report) -> None:
        for host, posts in self.by_host().items():
            report.add_up(host, f"Posts on this host that are left out: {posts:,}. {ADVICE}")

    def require_some(self, taken: int) -> None:
        """Raises OtherHosts (422) if all posts are on other hosts."""
        if self.elsewhere and not taken:
            raise OtherHosts(hosts=self.by_host())

    def _find(self, host: str) -> bool:
        return is_named(host, self._entries or ())


class OwnWords:
    """Finds the blocked words of the community and of its embeds in the posts of a file, as createMessage does.

    It reads the lists once for each host.
    """

    def __init__(self, move: Move) -> None:
        self._community_id = move.community_id
        self._of_host = lru_cache(CACHED)(self._find)

    def match(self, page: NormalizedUrl, content: str, fields: Mapping[str, Any]) -> bool:
        """Whether createMessage would refuse the post on this page for a word. `fields` are columns."""
        columns = (name for name in (*WORD_LIST_COLUMNS, "tag_type") if fields.get(name) is not None)
        draft = Draft(data={"content": content, **{name: fields[name] for name in columns}}, author_kind="human")
        draft.community = self._of_host(host_of_url(page.normalized_url))
        try:
            for rule in content_rules():
                rule.check(draft)
        except ContentBlocked:
            return True
        return False

    def _find(self, host: str) -> Community | None:
        """The community with what the rules read for posts on this host."""
        community = Community.objects.filter(pk=self._community_id).first()
        columns = community_columns(page_url=f"https://{host}/")
        statement = f"SELECT {', '.join(column.sql for column in columns)} {FROM_COMMUNITY}"
        values = {name: value for column in columns for name, value in column.values.items()}
        row = fetch_one(statement, values | {"community": self._community_id})
        for column, value in zip(columns, row or (), strict=False):
            setattr(community, column.name, value)
        return community
