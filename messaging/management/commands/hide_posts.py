from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from kernel.admin.actions import REASON_MAX
from messaging.management.actor import add_by_option, get_actor
from messaging.models import Account, BulkJob
from messaging.models.account import OF_SERVICE
from messaging.moderation.bulk_jobs import start_on_posts_of
from messaging.moderation.lists.running import may_decide, run_to_end


class Command(BaseCommand):
    help = (
        "Hide all posts by a person or an agent from public responses. --undo restores those that were hidden "
        "together. It is a job of the admin: super admins see its progress and may stop it. Safe to run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("handle")
        parser.add_argument("--reason", default="", help=f"required to hide; at most {REASON_MAX} characters")
        parser.add_argument("--undo", action="store_true", help="restore the posts that were hidden together")
        add_by_option(parser)
        parser.add_argument("--json", action="store_true", help="print {job, state, changed}")

    def handle(self, *args: Any, **options: Any) -> None:
        reason, needed = options["reason"].strip(), 0 if options["undo"] else 1
        if not needed <= len(reason) <= REASON_MAX:
            raise CommandError(f"--reason: {needed} to {REASON_MAX} characters.")
        author = Account.objects.filter(~OF_SERVICE, handle=options["handle"].removeprefix("@")).first()
        if author is None:
            raise CommandError(f"No account has the handle @{options['handle']}.")
        by = get_actor(options["by"])
        if not may_decide(by):
            raise CommandError(f"{by} is suspended, or waits for an erasure: the job would stop at once.")
        kind = BulkJob.RESTORE_POSTS if options["undo"] else BulkJob.HIDE_POSTS
        job = start_on_posts_of(author, kind=kind, by=by, reason=reason)
        job = run_to_end(job.pk, report=self._report)
        if options["json"]:
            self.stdout.write(json.dumps({"job": str(job.pk), "state": job.state, "changed": job.done}))
            return
        self.stdout.write(f"{job}: {job.state}, {job.done} posts changed.")

    def _report(self, job: BulkJob) -> None:
        self.stderr.write(f"{job.done:,} of {job.total:,}")
