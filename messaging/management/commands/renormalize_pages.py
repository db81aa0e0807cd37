from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from messaging.models import Page
from messaging.page_ids import InvalidUrl, normalize
from messaging.services.moving import PageBusy, move_page

BATCH = 2_000
PROGRESS_EVERY = 10_000


class Command(BaseCommand):
    help = (
        "Show which pages have another id under the rules of this release, and which one; --apply moves their posts "
        "to the page of that id, one transaction a page. The old id goes on leading to them. It works beside a running "
        "service, and may be stopped and run again. Run it once every host runs this release."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--dry-run", action="store_true", help="report, and move nothing")
        what.add_argument("--apply", action="store_true", help="move the posts of each page that differs")
        parser.add_argument("--json", action="store_true", help="print one JSON object a page that differs")

    def handle(self, *args: Any, **options: Any) -> None:
        differing = busy = 0
        for seen, page in enumerate(_pages(), start=1):
            record = _difference(page)
            if record is not None:
                differing += 1
                if options["apply"] and "newPageId" in record:
                    record |= _applied(page)
                    busy += "posts" not in record
                self.stdout.write(json.dumps(record) if options["json"] else "  ".join(map(str, record.values())))
            if seen % PROGRESS_EVERY == 0:
                self.stderr.write(f"{seen:,} pages read, {differing:,} differ")
        if not options["json"]:
            self.stdout.write(f"{differing} pages {'had' if options['apply'] else 'would get'} another id.")
        if busy:
            raise CommandError(f"{busy} pages took writes all the time and were not moved: run this again.")


def _pages() -> Iterator[Page]:
    """All pages by id, a batch at a time; new ones may come and go meanwhile."""
    last = ""
    while batch := list(Page.objects.filter(pk__gt=last).order_by("pk")[:BATCH]):
        yield from batch
        last = batch[-1].pk


def _difference(page: Page) -> dict[str, Any] | None:
    """What today's rules make of the page's URL; None where that is the page itself."""
    record = {"pageId": page.pk, "url": page.normalized_url}
    try:
        renewed = normalize(page.normalized_url)
    except InvalidUrl as failure:
        return record | {"problem": str(failure)}
    if renewed.page_id == page.pk:
        return None
    return record | {"newPageId": renewed.page_id, "newUrl": renewed.normalized_url}


def _applied(page: Page) -> dict[str, Any]:
    try:
        return {"posts": move_page(page)}
    except PageBusy:
        return {"problem": "busy"}
