from embeds.models.analytics import DailyCount, DailySalt, DailyVisitors
from embeds.models.embed import Embed, EmbedStatus, PageRuleType, TriggerPosition, TriggerSize, TriggerType

__all__ = [
    "DailyCount",
    "DailySalt",
    "DailyVisitors",
    "Embed",
    "EmbedStatus",
    "PageRuleType",
    "TriggerPosition",
    "TriggerSize",
    "TriggerType",
]
