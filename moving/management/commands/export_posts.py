from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from moving.exports.exporting import FORMATS, export
from moving.exports.files import write_file
from moving.exports.reading import EVERYTHING, SCOPES, Scope, UnknownScope

SECONDS_BETWEEN_REPORTS = 2


class Command(BaseCommand):
    help = (
        "Write posts with their threads, reactions and dates to a file that import_posts reads, to Disqus's XML or to "
        "CSV. The service may go on meanwhile: the export shows one moment. Safe to run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--community", metavar="ID", help="the posts of a community; its id or slug")
        which.add_argument("--page", metavar="ID", help="the posts of a page; its id or URL")
        which.add_argument(
            "--embed", metavar="ID", help="the posts of its community on the pages where its widget was used to write"
        )
        which.add_argument("--all", action="store_true", help="all posts")
        parser.add_argument("--format", choices=list(FORMATS), default="jsonl", help="default: jsonl")
        parser.add_argument(
            "--output", metavar="FILE", help="default: standard output; a name that ends in .gz is compressed"
        )
        parser.add_argument("--with-pending", action="store_true", help="also posts that wait for approval")

    def handle(self, *args: Any, **options: Any) -> None:
        scope = replace(_scope(options), with_pending=options["with_pending"])
        parts = export(scope, options["format"], on_progress=self._progress())
        if options["output"] is None:
            self._print(parts)
            return
        file = Path(options["output"])
        try:
            write_file(file, parts)
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}.") from None
        self.stderr.write(f"{file}: {file.stat().st_size:,} bytes")

    def _print(self, parts: Any) -> None:
        # The stream of a test has no bytes.
        out = getattr(self.stdout, "buffer", None)
        try:
            for part in parts:
                out.write(part) if out else self.stdout.write(part.decode(), ending="")
            self.stdout.flush()
        except BrokenPipeError:
            # The reader, such as `head`, has enough. Python would complain once more when it flushes at its end.
            sys.stdout = None
            raise CommandError("The reader of the output has ended before the export.") from None

    def _progress(self) -> Any:
        began = reported = time.monotonic()

        def report(posts: int) -> None:
            nonlocal reported
            now = time.monotonic()
            if now - reported >= SECONDS_BETWEEN_REPORTS:
                reported = now
                self.stderr.write(f"{posts:,} posts, {posts / (now - began):,.0f} a second")

        return report


def _scope(options: dict[str, Any]) -> Scope:
    try:
        for name, find in SCOPES.items():
            if options[name] is not None:
                return find(options[name])
    except UnknownScope as failure:
        raise CommandError(str(failure)) from None
    return EVERYTHING
