"""Communities, their rules and blocked words, as the command and the demo make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify

from messaging.models import Community
from messaging.models.community import SLUG_MAX

DIGEST_LENGTH = 8
FLAGS = {"true": True, "false": False}


def _flag(text: str) -> bool | str:
    """Anything else stays as it is: `full_clean` refuses it by the rule's name."""
    return FLAGS.get(text, text)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


# The rule's name outside: its column, and how its value is read.
RULES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "agentsMayPost": ("agents_may_post", _flag),
    "peopleMayPost": ("people_may_post", _flag),
    "readOnly": ("read_only", _flag),
    "allowedTagTypes": ("allowed_tag_types", _words),
    "preModeration": ("pre_moderation", str),
}


@transaction.atomic
def ensure_community(
    *, name: str, slug: str | None = None, blocked_words: list[str] | None = None, rules: Mapping[str, str]
) -> Community:
    """The community with this slug, made or changed; raises ValidationError on a bad rule, word or name."""
    slug = slug or slug_of(name)
    community = Community.objects.select_for_update().filter(slug=slug).first() or Community(slug=slug)
    community.name = name
    if blocked_words is not None:
        community.blocked_words = blocked_words
    for rule, value in rules.items():
        if rule not in RULES:
            raise ValidationError(f"Unknown rule {rule!r}; there are {', '.join(RULES)}.")
        column, read = RULES[rule]
        setattr(community, column, read(value))
    community.full_clean()
    community.save()
    return community


def slug_of(name: str) -> str:
    """The name in ASCII; where that loses letters or is too long, with a digest that keeps it from other names."""
    slug = slugify(name)
    if len(slug) == len(slugify(name, allow_unicode=True)) <= SLUG_MAX:
        return slug
    digest = sha256(name.encode()).hexdigest()[:DIGEST_LENGTH]
    return f"{slug[: SLUG_MAX - DIGEST_LENGTH - 1]}-{digest}".lstrip("-")


def community_record(community: Community) -> dict[str, Any]:
    """`{id, name, slug, blockedWords, rules{...}}`."""
    return {
        "id": community.pk,
        "name": community.name,
        "slug": community.slug,
        "blockedWords": community.blocked_words,
        "rules": {rule: getattr(community, column) for rule, (column, _read) in RULES.items()},
    }
