from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from messaging.models import Page
from messaging.pages.moving import PageBusy, move_page
from messaging.pages.page_ids import InvalidUrl, normalize

BATCH = 2_000
PROGRESS_EVERY = 10_000


class Command(BaseCommand):
    help = (
        "List the pages with another id under the rules of this release; --apply moves their posts to the page with "
        "that id, one transaction per page. The old id redirects to it. Safe beside a running service, and to stop and "
        "run again. Run it after every host runs this release."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--dry-run", action="store_true", help="list the pages without moving posts")
        what.add_argument("--apply", action="store_true", help="move the posts of each page that differs")
        parser.add_argument("--json", action="store_true", help="print one JSON object per page that differs")

    def handle(self, *args: Any, **options: Any) -> None:
        differing = busy = 0
        for read, page in enumerate(_pages(), start=1):
            record = _difference(page)
            if record is not None:
                differing += 1
                if options["apply"] and "newPageId" in record:
                    record |= _applied(page)
                    busy += "posts" not in record
                self.stdout.write(json.dumps(record) if options["json"] else "  ".join(map(str, record.values())))
            if read % PROGRESS_EVERY == 0:
                self.stderr.write(f"{read:,} pages read, {differing:,} differ")
        if not options["json"]:
            self.stdout.write(f"{differing} pages {'had' if options['apply'] else 'would get'} another id.")
        if busy:
            raise CommandError(f"{busy} pages were locked by writes and not moved: run this again.")


def _pages() -> Iterator[Page]:
    """All pages by id, in batches; pages may be inserted and deleted meanwhile."""
    last = ""
    while batch := list(Page.objects.filter(pk__gt=last).order_by("pk")[:BATCH]):
        yield from batch
        last = batch[-1].pk


def _difference(page: Page) -> dict[str, Any] | None:
    """The page with its id and URL under the current rules, or the problem; None if the id is the same."""
    record = {"pageId": page.pk, "url": page.normalized_url}
    try:
        normalized = normalize(page.normalized_url)
    except InvalidUrl as failure:
        return record | {"problem": str(failure)}
    if normalized.page_id == page.pk:
        return None
    return record | {"newPageId": normalized.page_id, "newUrl": normalized.normalized_url}


def _applied(page: Page) -> dict[str, Any]:
    try:
        return {"posts": move_page(page)}
    except PageBusy:
        return {"problem": "busy"}
