"""The migrations of a next release, as an app that `tests.faults.next_release.settings` installs.

They are compatible with the current release, so both may run.
"""

WIDER = "ALTER TABLE {table} ALTER COLUMN {column} TYPE varchar({length})"
# Columns that reads, token queries and writes return: (table, column, length).
WIDENED = (
    ("messaging_message", "source_app", 64),
    ("messaging_account", "name", 60),
    ("messaging_message", "page_id", 35),
)
INDEX = "words_of_notes"
OPEN_UNIT = "SELECT pg_get_functiondef('api_open_unit'::regproc)"
DROP_OPEN_UNIT = "DROP FUNCTION api_open_unit;"


def wider(table: str, column: str, length: int) -> tuple[str, str]:
    """The statement that changes a column's type, and the one that changes it back."""
    return tuple(WIDER.format(table=table, column=column, length=to) for to in (length + 20, length))  # type: ignore[return-value]


def with_one_more_column(definition: str) -> tuple[str, str]:
    """Statements that recreate `api_open_unit` with one more first column, and with its former definition."""
    more = definition.replace("RETURNS TABLE(", "RETURNS TABLE(release integer, ", 1)
    more = more.replace("SELECT kept.key_mac", "SELECT 2, kept.key_mac", 1)
    return DROP_OPEN_UNIT + more, DROP_OPEN_UNIT + definition
