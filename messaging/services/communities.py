"""Creates and updates communities, their rules and blocked words, for the command and the demo."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from hashlib import sha256
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify

from messaging.cache_tags import invalidate_community
from messaging.models import Community
from messaging.models.community import SLUG_MAX

DIGEST_LENGTH = 8
FLAGS = {"true": True, "false": False}


def _flag(text: str) -> bool | str:
    """Other text is returned unchanged: `full_clean` refuses it."""
    return FLAGS.get(text, text)


def _number(text: str) -> int | str:
    """As `_flag`."""
    return int(text) if text.isascii() and text.isdigit() else text


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


# The name of each rule in the API: its column, and the parser of its value.
RULES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "agentsMayPost": ("agents_may_post", _flag),
    "peopleMayPost": ("people_may_post", _flag),
    "readOnly": ("read_only", _flag),
    "allowedTagTypes": ("allowed_tag_types", _words),
    "preModeration": ("pre_moderation", str),
    "reportsToHide": ("reports_to_hide", _number),
}


@transaction.atomic
def ensure_community(
    *, name: str, slug: str | None = None, blocked_words: list[str] | None = None, rules: Mapping[str, str]
) -> Community:
    """Create or update the community with this slug; raises ValidationError for an invalid rule, word or name."""
    slug = slug or slug_of(name)
    words = {} if blocked_words is None else {"blocked_words": blocked_words}
    given = {"name": name} | words | _columns(rules)
    community = Community.objects.select_for_update().filter(slug=slug).first()
    if community is None:
        community = Community(slug=slug, **given)
        check_community(community, changed=[field.name for field in Community._meta.fields])
        community.save(force_insert=True)
        invalidate_community(community.pk)
    else:
        change_community(community, given)
    return community


def change_community(community: Community, given: Mapping[str, Any]) -> None:
    """Set the columns `given` on a row that the caller has locked. Unchanged values are not validated."""
    changes = {column: value for column, value in given.items() if getattr(community, column) != value}
    for column, value in changes.items():
        setattr(community, column, value)
    check_community(community, changed=changes)
    community.save(update_fields=[*changes, "updated_at"])
    invalidate_community(community.pk)


def check_community(community: Community, *, changed: Collection[str]) -> None:
    """Raises ValidationError. Only `changed` fields are checked: an earlier release may have saved the others."""
    community.full_clean(exclude={field.name for field in Community._meta.fields} - set(changed))


def _columns(rules: Mapping[str, str]) -> dict[str, Any]:
    unknown = [rule for rule in rules if rule not in RULES]
    if unknown:
        raise ValidationError(f"Unknown rule {unknown[0]!r}; the rules are {', '.join(RULES)}.")
    return {column: read(rules[rule]) for rule, (column, read) in RULES.items() if rule in rules}


def slug_of(name: str) -> str:
    """The name as an ASCII slug, with a digest of the name appended if the slug loses letters or is too long."""
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
