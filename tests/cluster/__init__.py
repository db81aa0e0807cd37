"""A primary and its standbys, a pooler, Redis and several hosts as processes of this machine, and faults in them."""
