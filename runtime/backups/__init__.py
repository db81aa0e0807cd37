"""`manage.py backup` and `restore`: the database as files with checksums, never its secrets."""


class BackupError(Exception):
    """A backup cannot be made or restored. The text is one sentence for people that says what to do."""
