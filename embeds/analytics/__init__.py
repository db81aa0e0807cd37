"""What an embed's owner learns of its readers, and what nobody does.

`ingest` writes one raw event, `rollup` moves raw events into daily counts, `summary` adds up both, `retention` drops
what is old. A reader shows only as a hash that is keyed with a random salt of the day and useless once that is gone.
"""
