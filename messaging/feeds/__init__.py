"""Feeds of the newest posts of a page or a community, as Atom 1.0 (RFC 4287) and as JSON Feed 1.1."""
