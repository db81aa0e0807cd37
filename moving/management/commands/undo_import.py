from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from kernel.api.exceptions import ApiError
from kernel.api.ids import is_id
from moving.imports.progress import ProgressLines
from moving.imports.undoing import begin_undo, undo
from moving.models import MoveStatus
from moving.services import find_import


class Command(BaseCommand):
    help = (
        "Undo a whole import: its posts and their authors are removed; posts that people have answered since are "
        "shown as deleted. May be stopped and run again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", help="of the import, as import_posts prints it")

    def handle(self, *args: Any, **options: Any) -> None:
        if not is_id(options["id"]):
            raise CommandError(f"{options['id']} is no id of an import: import_posts prints it.")
        try:
            move = find_import(options["id"])
            if move.status == MoveStatus.UNDONE:
                self.stdout.write("removed posts: 0 (it was undone before)")
                return
            begin_undo(move, by=None)
            removed = undo(move, tell=ProgressLines(self.stderr.write))
        except ApiError as refusal:
            raise CommandError(refusal.message) from None
        self.stdout.write(f"removed posts: {removed:,}")
