"""Writes the posts of other comment systems, each once, also when runs stop, are repeated or run at the same time.

`staging` reads the file into a temporary SQLite database, so that the memory does not depend on its size. `planning`
puts parents before replies and decides dates and tombstones. `writing` stores batches of posts, each in a transaction
of its own, since a long one would delay all readers of the change log. `undoing` removes an import.
"""
