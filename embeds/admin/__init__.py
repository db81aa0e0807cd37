"""Embeds on the super admins' site."""

from embeds.admin.embeds import EmbedAdmin

__all__ = ["EmbedAdmin"]
