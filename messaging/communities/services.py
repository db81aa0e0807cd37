"""Creates and updates communities, their rules and blocked words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from kernel.api.exception_handler import invalid_input
from kernel.api.ids import new_id
from kernel.writes.transaction import retried
from messaging.cache_tags import invalidate_community
from messaging.communities.moderators import appoint
from messaging.models import Account, Act, Community, Embedding, Moderator
from messaging.models.community import CREATED_MAX, SLUG_MAX
from messaging.moderation.decisions import log_about_community, note_for_moderators
from messaging.moderation.exceptions import CommunityCreationClosed, SlugTaken, TooManyCommunities

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
    "embedding": ("embedding", str),
    "closeAfterDays": ("close_after_days", _number),
}


def may_create(person: Account) -> bool:
    """Whether the person may create communities at all; `CREATED_MAX` limits how many."""
    return settings.COMMUNITY_CREATION == "open" or person.is_superuser


@retried
@transaction.atomic
def create_community(*, owner: Account, name: str, slug: str | None = None) -> Community:
    """Create a community, whose first moderator is `owner`. Without a slug it is made from the name.

    Only its moderators may choose it for an embed, until they change that rule.

    Raises CommunityCreationClosed (403), InvalidInput (400), SlugTaken or TooManyCommunities (409).
    """
    if not may_create(owner):
        raise CommunityCreationClosed
    # Locked, so that two calls at once do not pass the limit; rows that refer to the account can still be inserted.
    Account.objects.select_for_update(no_key=True).get(pk=owner.pk)
    if Community.objects.filter(created_by=owner).count() >= CREATED_MAX:
        raise TooManyCommunities(max=CREATED_MAX)
    slug = slug or free_slug(name)
    community = Community(name=name, slug=slug, created_by=owner, embedding=Embedding.MODERATORS)
    _insert(community)
    Moderator.objects.create(community=community, account_id=owner.pk)
    log_about_community(community, Act.CREATED, by=owner, verb="Created")
    invalidate_community(community.pk)
    return community


def _insert(community: Community) -> None:
    """Raises InvalidInput (400), SlugTaken (409)."""
    try:
        community.clean_fields()
    except ValidationError as failure:
        raise invalid_input(failure.message_dict) from None
    try:
        with transaction.atomic():
            community.save(force_insert=True)
    except IntegrityError:
        raise SlugTaken from None


@retried
@transaction.atomic
def ensure_community(
    *,
    name: str,
    slug: str | None = None,
    blocked_words: list[str] | None = None,
    rules: Mapping[str, str],
    moderators: Sequence[Account] = (),
) -> Community:
    """Create or update the community with this slug, and add moderators. A new one that has some is for their embeds.

    Raises ValidationError for an invalid rule, word or name; ModeratorBanned or TooManyModerators (409).
    """
    slug = slug or slug_of(name)
    words = {} if blocked_words is None else {"blocked_words": blocked_words}
    given = {"name": name} | words | _columns(rules)
    community = Community.objects.select_for_update().filter(slug=slug).first()
    if community is None:
        community = Community(slug=slug, **({"embedding": Embedding.MODERATORS} if moderators else {}) | given)
        check_community(community, changed=[field.name for field in Community._meta.fields])
        save_added(community)
    else:
        change_community(community, given)
    for person in moderators:
        if appoint(community, person)[1]:
            note_for_moderators(community, Act.ADDED, by=None, account=person)
    return community


def change_community(
    community: Community, given: Mapping[str, Any], *, by: Account | None = None, reason: str = ""
) -> None:
    """Set the columns `given` on a row that the caller has locked. Unchanged values are neither validated nor saved."""
    changes = {column: value for column, value in given.items() if getattr(community, column) != value}
    if not changes:
        return
    for column, value in changes.items():
        setattr(community, column, value)
    check_community(community, changed=changes)
    save_changed(community, list(changes), by=by, reason=reason)


def save_added(community: Community, *, by: Account | None = None, reason: str = "") -> None:
    """Insert a checked community without moderators. `by` None: a command."""
    community.save(force_insert=True)
    note_for_moderators(community, Act.CREATED, by=by, reason=reason)
    invalidate_community(community.pk)


def save_changed(community: Community, columns: Sequence[str], *, by: Account | None, reason: str) -> None:
    """Save checked columns only: the others may be newer in the database."""
    community.save(update_fields=[*columns, "updated_at"])
    note_for_moderators(community, Act.CHANGED, by=by, reason=reason, columns=columns)
    invalidate_community(community.pk)


def check_community(community: Community, *, changed: Collection[str]) -> None:
    """Raises ValidationError. Only `changed` fields are checked: an earlier release may have saved the others."""
    community.full_clean(exclude={field.name for field in Community._meta.fields} - set(changed))


def _columns(rules: Mapping[str, str]) -> dict[str, Any]:
    unknown = [rule for rule in rules if rule not in RULES]
    if unknown:
        raise ValidationError(f"Unknown rule {unknown[0]!r}; the rules are {', '.join(RULES)}.")
    return {column: read(rules[rule]) for rule, (column, read) in RULES.items() if rule in rules}


def free_slug(name: str) -> str:
    """The slug of the name; with a few random characters if another community has it."""
    slug = slug_of(name)
    if not Community.objects.filter(slug=slug).exists():
        return slug
    return f"{slug[: SLUG_MAX - DIGEST_LENGTH - 1]}-{new_id().hex[-DIGEST_LENGTH:]}"


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
