"""The demo's embed, which the demo page shows."""

from __future__ import annotations

from config.api.ids import is_id
from embeds.models import Embed
from embeds.services import create_embed
from messaging.demo import DemoContext

NAME = "Demo"


def embed(demo: DemoContext) -> None:
    kept = str(demo.facts.get("embedId", ""))
    if is_id(kept) and Embed.objects.live().filter(pk=kept).exists():
        return
    trigger = {"message": "Discuss this story", "color": "#7a2e12"}
    made = create_embed(owner=demo.person, name=NAME, community_id=demo.community.pk, trigger_config=trigger)
    demo.facts["embedId"] = str(made.pk)
