from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from messaging.models import Page
from messaging.page_ids import InvalidUrl, normalize

BATCH = 2_000
PROGRESS_EVERY = 10_000


class Command(BaseCommand):
    help = (
        "Show which pages would get another id under the rules of this release, and which one. Page ids carry the "
        "version of their rules (p1_), so a change of rules is a new version and nothing moves by itself."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="needed: this command only reports")
        parser.add_argument("--json", action="store_true", help="print one JSON object a page that differs")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["dry_run"]:
            raise CommandError("Only --dry-run exists: ids that were handed out are kept, whatever the rules become.")
        differing = 0
        for seen, page in enumerate(Page.objects.order_by("id").iterator(chunk_size=BATCH), start=1):
            differing += self._report(page, as_json=options["json"])
            if seen % PROGRESS_EVERY == 0:
                self.stderr.write(f"{seen:,} pages read, {differing:,} differ")
        if not options["json"]:
            self.stdout.write(f"{differing} pages would get another id.")

    def _report(self, page: Page, *, as_json: bool) -> bool:
        try:
            renewed = normalize(page.normalized_url)
        except InvalidUrl as failure:
            record = {"pageId": page.pk, "url": page.normalized_url, "problem": str(failure)}
        else:
            if renewed.page_id == page.pk:
                return False
            record = {
                "pageId": page.pk,
                "url": page.normalized_url,
                "newPageId": renewed.page_id,
                "newUrl": renewed.normalized_url,
            }
        self.stdout.write(json.dumps(record) if as_json else "  ".join(record.values()))
        return True
