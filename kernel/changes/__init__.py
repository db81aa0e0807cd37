"""The change log: every public change and every event of an account's inbox, in one order that never skips a row."""
