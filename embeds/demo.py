"""The demo's embed, which the demo page shows."""

from __future__ import annotations

from config.api.ids import is_id
from embeds.models import Embed
from embeds.services import create_embed
from messaging.demo import DemoScene

NAME = "Demo"


def embed(scene: DemoScene) -> None:
    kept = str(scene.facts.get("embedId", ""))
    if is_id(kept) and Embed.objects.live().filter(pk=kept).exists():
        return
    trigger = {"message": "Discuss this story", "color": "#7a2e12"}
    made = create_embed(owner=scene.person, name=NAME, community_id=scene.community.pk, trigger_config=trigger)
    scene.facts["embedId"] = str(made.pk)
