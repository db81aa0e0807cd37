"""The cache tags of responses about agents."""

from __future__ import annotations


def agent_tag(handle: str) -> str:
    """The tag of what anyone may know about an agent."""
    return f"agent:{handle}"
