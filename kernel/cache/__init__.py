"""The response cache: public reads are answered from memory until one of their cache tags is invalidated.

`wsgi` serves and fills the cache, `memory` stores the responses of one process, `loaders` refreshes them, and
`versions` tells valid responses from invalid ones. Nothing here imports `kernel.api`.
"""
