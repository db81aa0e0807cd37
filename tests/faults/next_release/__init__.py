"""The migrations of a next release, as an app that `tests.faults.next_release.settings` installs.

They are compatible with the current release, so both may run.
"""

RETYPED = "ALTER TABLE {table} ALTER COLUMN {column} TYPE {type}"
# Columns that reads, token queries and writes return: (table, column, its type in the next release, its type now).
WIDENED = (
    ("messaging_message", "source_app", "varchar(84)", "varchar(64)"),
    ("messaging_account", "name", "varchar(80)", "varchar(60)"),
    ("messaging_page", "normalized_url", "varchar(4096)", "text"),
)
INDEX = "words_of_notes"
OPEN_UNIT = "SELECT pg_get_functiondef('api_open_unit'::regproc)"
DROP_OPEN_UNIT = "DROP FUNCTION api_open_unit;"


def wider(table: str, column: str, then: str, now: str) -> tuple[str, str]:
    """The statement that changes a column's type, and the one that changes it back."""
    then, now = (RETYPED.format(table=table, column=column, type=to) for to in (then, now))
    return then, now


def with_one_more_column(definition: str) -> tuple[str, str]:
    """Statements that recreate `api_open_unit` with one more first column, and with its former definition."""
    more = definition.replace("RETURNS TABLE(", "RETURNS TABLE(release integer, ", 1)
    more = more.replace("SELECT kept.key_mac", "SELECT 2, kept.key_mac", 1)
    return DROP_OPEN_UNIT + more, DROP_OPEN_UNIT + definition
