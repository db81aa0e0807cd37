"""Rolls up numbers by day, so that a page reads a few rows beside any number of posts.

Posts and reports are added from the change log, each row once: the cursor moves in the transaction that adds
(`log`). What has an indexed time and is little of a day is recounted for the latest days (`days`).
"""
