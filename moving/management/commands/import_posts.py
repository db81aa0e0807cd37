from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from kernel.api.exceptions import ApiError
from kernel.api.ids import is_id
from kernel.jobs.leases import release
from messaging.models import Community
from moving import services
from moving.exceptions import OtherHosts
from moving.formats import FORMATS, detect
from moving.imports.addresses import Replacement
from moving.imports.map_files import replacements
from moving.imports.progress import EVERY_SECONDS, ProgressLines, Report, Step, Tell
from moving.imports.running import Result, digest_of, run
from moving.models import Move, MoveStatus


class Command(BaseCommand):
    help = (
        "Import the posts of another comment system into a community. May be stopped and run again: each post comes "
        "once. A report says what was skipped or changed, and why. Makes no mail, webhook or inbox event."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE")
        parser.add_argument(
            "--from", dest="format", choices=list(FORMATS), help="what has written FILE; default: it is recognised"
        )
        parser.add_argument("--community", required=True, metavar="ID", help="where the posts go")
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="OLD=NEW",
            help="replace the beginning OLD of addresses, without scheme and www., by NEW; /=https://site.example/ "
            "gives paths a host, IDENTIFIER=https://site.example/page gives a thread its address",
        )
        parser.add_argument(
            "--map-file",
            metavar="FILE",
            help="a CSV of such replacements in two columns; or the report of an earlier run, with a column url added",
        )
        parser.add_argument(
            "--any-host",
            action="store_true",
            help="also take addresses on hosts that no whitelist of the community's embeds names",
        )
        parser.add_argument("--dry-run", action="store_true", help="only write the report and the numbers")
        parser.add_argument("--report", metavar="FILE", help="default: FILE.report.csv beside the input")

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["file"])
        report = Path(options["report"] or f"{path}.report.csv")
        options["format"] = options["format"] or _detected(path)
        try:
            pairs = self._pairs(options["map_file"])
            services.require_usable(format=options["format"], map=options["map"])
            move = self._move(path, options)
            chosen = {"is_dry_run": options["dry_run"], "any_host": options["any_host"], "pairs": pairs}
            try:
                result = self._run(move, path, report, **chosen)
            finally:
                release(move)
        except OtherHosts as refusal:
            raise CommandError(f"{refusal.message} With --any-host it takes every host.") from None
        except ApiError as refusal:
            raise CommandError(refusal.message) from None
        self._print(move, result, report, is_dry_run=options["dry_run"])

    def _pairs(self, name: str | None) -> list[Replacement]:
        """The rows of the file of replacements. Raises InvalidMapFile (400), InvalidMapRow (400)."""
        try:
            return replacements(Path(name).read_bytes()) if name else []
        except OSError as error:
            raise CommandError(f"{name} cannot be read: {error.strerror}.") from None

    def _move(self, path: Path, options: dict[str, Any]) -> Move:
        community_id = options["community"]
        community = Community.objects.filter(pk=community_id).first() if is_id(community_id) else None
        if community is None:
            raise CommandError(f"Community {community_id} does not exist: `manage.py create_community` makes one.")
        try:
            size, digest = path.stat().st_size, digest_of(path)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
        if options["dry_run"]:
            return Move(community=community, format=options["format"], options={"map": options["map"]})
        move = services.import_of_file(
            community=community,
            format=options["format"],
            digest=digest,
            size=size,
            file_name=path.name,
            map=options["map"],
            status=MoveStatus.RUNNING,
        )
        services.begin(move, map=options["map"])
        return move

    def _run(self, move: Move, path: Path, report: Path, *, is_dry_run: bool, **chosen: Any) -> Result:
        lines = ProgressLines(self.stderr.write)
        tell: Tell = lines if is_dry_run else _Leased(move, lines)
        try:
            with _written(report) as out:
                result = run(move, path, report=Report(out), tell=tell, is_dry_run=is_dry_run, **chosen)
        except ApiError as refusal:
            if not is_dry_run:
                services.fail(move, refusal)
            raise
        if not is_dry_run:
            services.end(move, result)
        return result

    def _print(self, move: Move, result: Result, report: Path, *, is_dry_run: bool) -> None:
        counts = result.counts()
        counts.pop("reasons")
        elsewhere = counts.pop("elsewhere", {})
        counts["found in the file"] = counts.pop("found")
        for name, count in {"new": counts.pop("new"), **counts}.items():
            self.stdout.write(f"{name}: {count:,}")
        if elsewhere:
            hosts = ", ".join(f"{host} ({posts:,})" for host, posts in elsewhere.items())
            self.stdout.write(f"left out, on hosts of no embed of the community (--any-host takes them): {hosts}")
        self.stdout.write(f"report: {report}")
        if is_dry_run:
            self.stdout.write("A dry run: nothing was written.")
        else:
            self.stdout.write(f"import: {move.pk} (to remove it: manage.py undo_import {move.pk})")


def _detected(path: Path) -> str:
    if (found := detect(path)) is None:
        raise CommandError(f"{path} cannot be read, or is no export that is known: name its program with --from.")
    return found


class _Leased:
    """Tells of the steps of a run, and renews its lease, every two seconds."""

    def __init__(self, move: Move, tell: Tell) -> None:
        self._move, self._tell, self._renewed = move, tell, time.monotonic()

    def __call__(self, step: Step) -> None:
        self._tell(step)
        if time.monotonic() >= self._renewed + EVERY_SECONDS:
            self._renewed = time.monotonic()
            services.keep_lease(self._move)


@contextmanager
def _written(report: Path) -> Iterator[Any]:
    """The file gets its name when it is complete."""
    draft = report.with_name(f"{report.name}.part")
    try:
        with draft.open("w", encoding="utf-8", newline="") as out:
            yield out
        draft.replace(report)
    except OSError as error:
        raise CommandError(f"{report} cannot be written: {error.strerror}. Choose another file: --report.") from None
    finally:
        draft.unlink(missing_ok=True)
