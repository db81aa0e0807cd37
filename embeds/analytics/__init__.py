"""Analytics of embeds: counts per day for the site owner, without personal data of readers.

`ingest` inserts one raw event, `rollup` moves raw events into daily counts, `summary` adds both up, `retention` deletes
old rows. A reader is stored only as a hash keyed with a random salt of the day; without the salt it identifies no one.
"""
