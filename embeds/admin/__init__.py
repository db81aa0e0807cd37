"""The admin of embeds."""

from embeds.admin.embeds import EmbedAdmin

__all__ = ["EmbedAdmin"]
