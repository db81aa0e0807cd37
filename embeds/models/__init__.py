from embeds.models.analytics import DailyCount, DailySalt, DailyVisitors
from embeds.models.embed import Embed, EmbedStatus, PageRuleType, Shows, TriggerPosition, TriggerSize, TriggerType
from embeds.models.sighting import Sighting

__all__ = [
    "DailyCount",
    "DailySalt",
    "DailyVisitors",
    "Embed",
    "EmbedStatus",
    "PageRuleType",
    "Shows",
    "Sighting",
    "TriggerPosition",
    "TriggerSize",
    "TriggerType",
]
