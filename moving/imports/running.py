"""Runs an import of a file, or a dry run of it."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from django.db import reset_queries

from kernel.database.sql import database_now
from messaging.models import MessageStatus
from moving.exceptions import FileRefused
from moving.formats import PROGRAMS, UnreadableFile, detect, read
from moving.imports.addresses import Pages, Replacement
from moving.imports.announcing import announce
from moving.imports.authors import report_names
from moving.imports.known_posts import known_posts
from moving.imports.own_pages import OwnPages, OwnWords
from moving.imports.planning import Plan, Planner
from moving.imports.progress import CHANGED, SKIPPED, Report, Step, Tell
from moving.imports.quotes import leave_out_missing_quotes, restore_quotes
from moving.imports.reactions import restore_reactions
from moving.imports.sites import site_of
from moving.imports.staging import StagedPost, Staging, opened
from moving.imports.texts import cut, time_of
from moving.imports.writing import Written, write
from moving.models import Move

# Each batch locks the counts of its community, for which others wait.
BATCH = 500
# Long texts take long to index for search: 500 of 10,000 characters take seconds.
BATCH_BYTES = 500_000
PREVIEWED = 10
PREVIEW_TEXT = 300
PIECE = 1 << 20


@dataclass(slots=True)
class Result:
    """What a run has found. `new`: what it has written, or would write."""

    found: int = 0
    new: int = 0
    earlier: int = 0
    by_status: dict[str, int] = field(default_factory=dict)
    pages: set[str] = field(default_factory=set)
    skipped: int = 0
    changed: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    # How many posts are left out because they are on hosts of others, by host.
    elsewhere: dict[str, int] = field(default_factory=dict)
    preview: list[dict[str, Any]] = field(default_factory=list)

    def counts(self) -> dict[str, Any]:
        """As stored with the import and printed by the command."""
        return {
            "found": self.found,
            "new": self.new,
            "earlier": self.earlier,
            **{status: self.by_status.get(status, 0) for status in ("published", "pending", "deleted")},
            "pages": len(self.pages),
            "skipped": self.skipped,
            "changed": self.changed,
            "reasons": self.reasons,
        } | ({"elsewhere": self.elsewhere} if self.elsewhere else {})


def digest_of(path: Path) -> str:
    """SHA-256 in hexadecimal. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def run(
    move: Move,
    path: Path,
    *,
    report: Report,
    tell: Tell,
    is_dry_run: bool = False,
    any_host: bool = False,
    content_max: int | None = None,
    pairs: Sequence[Replacement] = (),
) -> Result:
    """Import a file; a dry run writes nothing. `content_max`: the bytes of its content, decompressed; None: any number.
    `pairs` are the rows of a file of replacements.

    Without `any_host`, posts on hosts that no embed of the community names are left out.

    Raises FileRefused (422), OtherHosts (422) before anything is written, InvalidMap (400), ImportUndone (409),
    ImportBusy (409).
    """
    pages, own = Pages(move.map, pairs), OwnPages(move, any_host=any_host)
    with opened() as database:
        words = OwnWords(move)
        staging = Staging(database, pages=pages, own=own, words=words, report=report, content_max=content_max)
        _read(staging, move, path, tell, content_max)
        own.add_to(report)
        own.require_some(staging.count())
        site = site_of(staging, move=move)
        report_names(staging, move=move, site=site, report=report)
        known = partial(known_posts, move=move, site=site)
        staged = staging.count()
        begin_ordering = partial(tell, Step("ordering", 0, staged))
        leave_out_missing_quotes(staging, known=known, report=report, tell=begin_ordering)
        plan = Planner(staging, report=report, known=known, now=database_now(), tell=tell).plan()
        result = Result(found=staging.found, elsewhere=own.by_host())
        for posts, times in _batches(staging, plan):
            # With DEBUG, Django stores the statements, and each has the texts of a batch.
            reset_queries()
            if is_dry_run:
                _check(posts, times, result, known([post.source_id for post in posts]))
            else:
                _add_up(posts, result, write(posts, times, move=move, site=site))
            tell(Step("checking" if is_dry_run else "writing", result.new + result.earlier, len(plan.order)))
        if not is_dry_run:
            restore_reactions(database, move=move, total=staging.reactions, tell=tell)
            restore_quotes(database, move=move, total=staged, tell=tell)
    if not is_dry_run:
        announce(move, tell=partial(tell, Step("ending", staged, staged)))
    result.skipped, result.changed = report.counts[SKIPPED], report.counts[CHANGED]
    result.reasons = {f"{action} {kind}": count for (action, kind), count in sorted(report.reasons.items())}
    return result


def _read(staging: Staging, move: Move, path: Path, tell: Tell, content_max: int | None) -> None:
    try:
        size = path.stat().st_size

        def on_progress(done: int) -> None:
            tell(Step("reading", done, size))

        staging.take(read(move.format, path, on_progress=on_progress, content_max=content_max))
    except UnreadableFile as failure:
        raise FileRefused(_of_another(move.format, path, content_max) or str(failure)) from None
    except OSError as failure:
        raise FileRefused(f"The file cannot be read: {failure.strerror}.") from None


def _of_another(named: str, path: Path, content_max: int | None) -> str:
    """The sentence that refuses a file of another program; "" where none is recognised."""
    found = detect(path, content_max=content_max)
    if found is None or found == named:
        return ""
    return f"The file is no export of {PROGRAMS[named]}. It seems to be one of {PROGRAMS[found]}: choose that."


def _batches(staging: Staging, plan: Plan) -> Iterator[tuple[list[StagedPost], array[int]]]:
    for posts in _divided(staging.posts(plan.order)):
        yield posts, array("q", (plan.times[post.number] for post in posts))


def _divided(posts: Iterable[StagedPost]) -> Iterator[list[StagedPost]]:
    """The same posts in lists that take about as long to write, and not more memory than one post more than that."""
    part: list[StagedPost] = []
    size = 0
    for post in posts:
        part.append(post)
        size += post.size
        if len(part) == BATCH or size >= BATCH_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _check(posts: list[StagedPost], times: array[int], result: Result, known: Collection[str]) -> None:
    _add_up(posts, result, Written(new=len(posts) - len(known), earlier=len(known)))
    for post, time in zip(posts, times, strict=True):
        if len(result.preview) < PREVIEWED and post.state == MessageStatus.PUBLISHED:
            result.preview.append(
                {
                    "name": post.author_name,
                    "at": time_of(time).isoformat(),
                    "url": post.url,
                    "text": cut(post.content, PREVIEW_TEXT),
                }
            )


def _add_up(posts: list[StagedPost], result: Result, written: Written) -> None:
    result.new += written.new
    result.earlier += written.earlier
    for post in posts:
        result.by_status[post.state] = result.by_status.get(post.state, 0) + 1
        result.pages.add(post.page_id)
