"""The embed of the demo page."""

from __future__ import annotations

from embeds.models import Embed
from embeds.services import create_embed
from kernel.api.ids import is_id
from messaging.posts.demo import DemoContext

NAME = "Demo"


def embed(demo: DemoContext) -> None:
    embed_id = str(demo.facts.get("embedId", ""))
    if is_id(embed_id) and Embed.objects.live().filter(pk=embed_id).exists():
        return
    trigger = {"message": "Discuss this story", "color": "#7a2e12"}
    created = create_embed(owner=demo.person, name=NAME, community_id=demo.community.pk, trigger_config=trigger)
    demo.facts["embedId"] = str(created.pk)
