"""Refusals of imports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kernel.api.exceptions import ApiError, NotFound, PayloadTooLarge

if TYPE_CHECKING:
    from moving.models import Move


# The characters of a host in a sentence.
HOST_SHOWN = 50


class InvalidMap(ApiError):
    status_code = 400
    default_code = "invalid_map"
    message = "Send each replacement as OLD=NEW, such as old.example=new.example or /=https://site.example/."
    cause = "A replacement of addresses has no `=`, or the new address is none."
    remedy = "Send the beginning of the old address, or the identifier of a thread, `=`, and the new one."
    example = {"field": "map"}

    def __init__(self, replacement: str | None = None, **fields: Any) -> None:
        super().__init__(None if replacement is None else f'"{replacement}": {self.message}', **fields)


class InvalidMapFile(ApiError):
    status_code = 400
    default_code = "invalid_map_file"
    message = "Send the file of addresses as a CSV of two columns, or a report with a column url beside its address."
    cause = "The file of addresses is no CSV of two columns, and has none that are called address and url."
    remedy = "Write the identifier or the old address into the first column, and the new address into the second."
    example = {"field": "map_file"}


class InvalidMapRow(ApiError):
    """400: the new address in the row `row` is none."""

    status_code = 400
    default_code = "invalid_map_row"
    message = "Correct the row of the file of addresses whose new address is none."
    cause = "The new address in a row of the file of addresses is none."
    remedy = "Write a whole address, such as `https://site.example/page`, or leave the cell empty."
    example = {"row": 2, "new": "https://"}

    def __init__(self, *, row: int, new: str) -> None:
        self.row = row
        super().__init__(f"Correct row {row} of the file of addresses: '{new}' is no web address.", field="map_file")


class UnknownFormat(ApiError):
    status_code = 400
    default_code = "unknown_format"
    message = "Choose one of the formats {allowed}."
    cause = "The format of the import is none of the known ones."
    remedy = "Choose one of the formats that the message lists."
    example = {"allowed": "disqus, wordpress"}

    def __init__(self, *, allowed: str) -> None:
        super().__init__(allowed=allowed)


class FileRefused(ApiError):
    """422: the file is no such export."""

    status_code = 422
    default_code = "file_refused"
    message = "Choose an export of the program that is named: this file is none."
    cause = "The file is no export of the format that was chosen, or none at all."
    remedy = "Choose the format of the program that has written the file, or export it again."
    example = {"message": "The file is empty."}


class OtherHosts(FileRefused):
    """422: no post of the file is on a host of the community. `hosts`: the number of posts by host."""

    default_code = "other_hosts"
    message = "Add the hosts of the posts to the whitelist of the community's widget, then import again."
    cause = "All posts of the file are on hosts that no widget of the community's moderators names in its whitelist."
    remedy = (
        "Add the host to the whitelist of the widget, or give the posts their new host with OLD=NEW, and import the "
        "file again. The operator imports posts of any host with `manage.py import_posts --any-host`."
    )
    example = {"hosts": {"lantern.example": 12}}

    def __init__(self, *, hosts: Mapping[str, int]) -> None:
        self.hosts = dict(hosts)
        first = f"{next(iter(hosts))[:HOST_SHOWN]}{f', {len(hosts) - 1:,} others' if len(hosts) > 1 else ''}"
        super().__init__(
            f"All {sum(hosts.values()):,} posts are on hosts of no widget here ({first}): "
            "add it to the whitelist, then import again."
        )


class FileTooLarge(PayloadTooLarge):
    """413: the uploaded file has more than `max` bytes."""

    default_code = "file_too_large"
    message = "Upload a file of at most {max} bytes, or ask for `manage.py import_posts`, which takes any size."
    cause = "The file is larger than the service accepts on its pages."
    remedy = "Compress the file with gzip, or ask the operator to import it with `manage.py import_posts`."
    example = {"field": "file", "max": 209_715_200}


class ExportBusy(ApiError):
    status_code = 429
    default_code = "export_busy"
    message = "Try again in a minute: you or others are downloading exports."
    cause = "The account downloads another export, or as many are downloaded as the service sends at a time."
    remedy = "Wait for the download to end, or use `manage.py export_posts`."


class ImportNotFound(NotFound):
    default_code = "import_not_found"
    message = "Nothing found: there is no import with this id."
    cause = "The id is of no import, or of one into another community."
    remedy = "Choose one of the imports that the page of the community lists."


class ImportReportNotFound(NotFound):
    default_code = "import_report_not_found"
    message = "Nothing found: no report of this import is stored."
    cause = "The report was deleted, since it was old or for newer ones, or a command has written it to a file."
    remedy = "Upload the same file again: it is checked again, which makes a report."


class ImportBusy(ApiError):
    """409: another step of the import is under way."""

    status_code = 409
    default_code = "import_busy"
    message = "Wait until the current step of this import has ended: it is {status}."
    cause = "The import is being checked, written or undone, or its present state does not allow the step."
    remedy = "Reload the page, and choose again when the step has ended."
    example = {"status": "running"}

    def __init__(self, *, status: str) -> None:
        super().__init__(status=status)


class ImportUnderWay(ApiError):
    """409: another import of the same account is under way, which is `move`."""

    status_code = 409
    default_code = "import_under_way"
    message = "Wait until your other import has ended: one at a time is read and written for an account."
    cause = "Another import of the account is being checked or written, or waits for it."
    remedy = "Open the page of the other import. When it has ended, send the file again."

    def __init__(self, move: Move | None = None) -> None:
        super().__init__()
        self.move = move


class ImportStorageFull(ApiError):
    """503: the uploaded files of the whole service take all the room that they may."""

    status_code = 503
    default_code = "import_storage_full"
    message = "Try again later, or ask the operator for `manage.py import_posts`: there is no room for the file now."
    cause = "The files of imports that are checked or written now take the room of IMPORT_DISK_MAX_MB."
    remedy = "Upload the file again in an hour, or compress it with gzip. Nothing of it was stored."


class ImportUndone(ApiError):
    """409: the import was undone, or is being undone, while it is written."""

    status_code = 409
    default_code = "import_undone"
    message = "The import is undone, or being undone: run `undo_import` to the end before you import the file again."
    cause = "A person or a command has begun to undo the import."
    remedy = "Undo it to the end, then import the file again."


class PostsChanging(ApiError):
    """409: a job of a super admin hides or restores all posts of the author."""

    status_code = 409
    default_code = "posts_changing"
    message = "Try again in a few minutes: an administrator is changing these posts."
    cause = "A super admin is hiding or restoring all posts of the author."
    remedy = "Wait until all of them are changed, then claim the author again."
