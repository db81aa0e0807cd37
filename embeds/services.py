"""Services that create, change, delete, disable and enable embeds."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from embeds.exceptions import EmbedDisabled, EmbedNotFound, JwksOff, NothingToTrust
from embeds.models import (
    Embed,
    EmbedMode,
    EmbedStatus,
    PageRuleType,
    SignInMode,
    default_page_rules,
    default_trigger_config,
)
from kernel.admin.audit import log_decision, transition
from kernel.api.exceptions import InvalidInput, NotOwner
from kernel.cache.versions import invalidate
from kernel.writes.transaction import retried
from messaging.cache_tags import embed_tag
from messaging.communities.moderators import moderated_community, moderates, require_embeddable
from messaging.models import Account, Act, WebhookTarget
from messaging.moderation.decisions import note_for_moderators
from messaging.moderation.exceptions import ModeratorRequired
from messaging.webhooks.posting import Receiver
from messaging.webhooks.services import delete_webhooks_of, resume_webhooks

# JSON columns into which a change is merged.
MERGED = ("page_rules", "trigger_config")


@retried
@transaction.atomic
def create_embed(
    *,
    owner: Account,
    name: str,
    community_id: UUID,
    page_rules: dict[str, Any] | None = None,
    trigger_config: dict[str, Any] | None = None,
    **fields: Any,
) -> Embed:
    """Create an embed; absent fields get their defaults.

    Raises CommunityNotFound (404), ModeratorRequired (403) where only moderators may choose the community or the
    accounts of the site, JwksOff (403), or InvalidInput (400) if an owner sets the status `disabled`, an address that
    is not read, or rules that show the widget on no page.
    """
    require_embeddable(community_id=community_id, by=owner)
    _refuse_status(fields.get("status"), owner)
    now = timezone.now()
    embed = Embed(owner=owner, name=name, community_id=community_id, created_at=now, updated_at=now, **fields)
    embed.page_rules = default_page_rules() | (page_rules or {})
    _require_patterns(embed.page_rules)
    embed.trigger_config = default_trigger_config() | (trigger_config or {})
    _require_site_sign_in(embed, owner)
    embed.save(force_insert=True)
    return embed


def owned_embed(*, embed_id: UUID, owner: Account) -> Embed:
    """Load an embed of `owner`; raises EmbedNotFound (404) or NotOwner (403)."""
    return _require_owner(_require_found(Embed.objects.live().filter(pk=embed_id).first()), owner)


@retried
@transaction.atomic
def update_embed(*, embed_id: UUID, owner: Account, **changes: Any) -> Embed:
    """Change the fields given; inside `page_rules` and `trigger_config`, the parts given.

    Another type of trigger ends the mode `inline`, which has no trigger, unless the mode is given too.

    Raises EmbedNotFound and CommunityNotFound (404), NotOwner (403), ModeratorRequired (403) for another community that
    only its moderators may choose or where only they choose accounts of the site, JwksOff (403), EmbedDisabled (403) if
    an owner changes the status of a disabled embed, and InvalidInput (400) if an owner disables it, for an address that
    is not read, or for rules that show the widget on no page.
    """
    embed = _require_owner(_locked(embed_id), owner)
    if changes.get("community_id", embed.community_id) != embed.community_id:
        require_embeddable(community_id=changes["community_id"], by=owner)
        _end_trust_of_another(embed, changes["community_id"], by=owner)
    status, rules = changes.pop("status", embed.status), embed.page_rules
    _check_status(embed, status, owner)
    for name, value in changes.items():
        setattr(embed, name, _merged(getattr(embed, name), value) if name in MERGED else value)
    if embed.page_rules != rules:
        _require_patterns(embed.page_rules)
    if changes.keys() & {"community_id", "sign_in", "jwks_url"}:
        _require_site_sign_in(embed, owner)
    _set_status(embed, status, by=owner)
    _save(embed)
    return embed


@retried
@transaction.atomic
def delete_embed(*, embed_id: UUID, owner: Account) -> None:
    """Delete an embed softly, with its webhooks: its configuration is 404, its posts stay. Pruning blanks the row.

    Raises EmbedNotFound (404) or NotOwner (403).
    """
    _delete(_require_owner(_locked(embed_id), owner))


@retried
@transaction.atomic
def end_embed(*, community_id: UUID, embed_id: UUID, by: Account, reason: str = "") -> None:
    """Delete an embed of a community as its moderator; the owner is told nothing, the moderators have it in their log.

    Raises CommunityNotFound (404), ModeratorRequired (403), EmbedNotFound (404) for one of another community too.
    """
    community = moderated_community(community_id=community_id, by=by)
    embed = _locked(embed_id)
    if embed.community_id != community_id:
        raise EmbedNotFound
    _delete(embed)
    log_decision(by=by, about=embed, verb="Ended", reason=reason)
    note_for_moderators(community, Act.ENDED, by=by, reason=reason, account=embed.owner)


@retried
@transaction.atomic
def set_blacklist(*, embed_id: UUID, owner: Account, domains: list[str]) -> Embed:
    """Replace the domains where the embed must not run. Raises EmbedNotFound (404) or NotOwner (403)."""
    embed = _require_owner(_locked(embed_id), owner)
    embed.domain_blacklist = domains
    _save(embed)
    return embed


@retried
@transaction.atomic
def disable_embed(*, embed_id: UUID, by: Account, reason: str = "") -> Embed:
    """Disable an embed as a super admin; only a super admin can enable it. Raises EmbedNotFound (404)."""
    embed = _locked(embed_id)
    if embed.status != EmbedStatus.DISABLED:
        _set_status(embed, EmbedStatus.DISABLED, by=by, reason=reason)
        _save(embed)
    return embed


@retried
@transaction.atomic
def enable_embed(*, embed_id: UUID, by: Account, reason: str = "") -> Embed:
    """Restore the status that a disabled embed had: active or paused. Raises EmbedNotFound (404)."""
    embed = _locked(embed_id)
    if embed.status == EmbedStatus.DISABLED:
        _set_status(embed, embed.status_to_restore, by=by, reason=reason)
        _save(embed)
    return embed


@retried
@transaction.atomic
def trust_embed(*, embed_id: UUID, by: Account, reason: str = "") -> Embed:
    """Let permalinks of the community go on to pages on the hosts of the whitelist as it is now, as a super admin.

    Raises EmbedNotFound (404), or NothingToTrust (409) without a whitelist.
    """
    embed = _locked(embed_id)
    if not embed.domain_whitelist:
        raise NothingToTrust
    if embed.has_untrusted_entries:
        _trust(embed, list(embed.domain_whitelist), by=by, verb="Trusted", reason=reason)
        _save(embed)
    return embed


@retried
@transaction.atomic
def untrust_embed(*, embed_id: UUID, by: Account, reason: str = "") -> Embed:
    """Let permalinks show threads again, as a super admin. Raises EmbedNotFound (404)."""
    embed = _locked(embed_id)
    if embed.trusted_entries is not None:
        _trust(embed, None, by=by, verb="Untrusted", reason=reason)
        _save(embed)
    return embed


def _trust(embed: Embed, entries: list[str] | None, *, by: Account, verb: str, reason: str = "") -> None:
    embed.trusted_entries = entries
    log_decision(by=by, about=embed, verb=verb, reason=reason)


def _end_trust_of_another(embed: Embed, community_id: UUID, *, by: Account) -> None:
    """What a super admin trusts is the embed of one community: posts of another one do not lead to its hosts."""
    if embed.trusted_entries is not None and community_id != embed.community_id:
        _trust(embed, None, by=by, verb="Untrusted with another community")


def _merged(before: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    after = before | changes
    is_other_trigger = "mode" not in changes and after["type"] != before["type"]
    if is_other_trigger or after.get("mode") == EmbedMode.PANEL:
        after.pop("mode", None)
    return after


def _set_status(embed: Embed, status: str, *, by: Account, reason: str = "") -> None:
    """Set the status; disabling stores the previous one. Disabling and enabling are logged."""
    previous, embed.status = embed.status, status
    if previous == status:
        return
    if status == EmbedStatus.DISABLED:
        embed.status_to_restore = previous
        log_decision(by=by, about=embed, verb=transition("Disabled", previous, status), reason=reason)
    elif previous == EmbedStatus.DISABLED:
        embed.status_to_restore = EmbedStatus.ACTIVE
        resume_webhooks(target_kind=WebhookTarget.EMBED, target_id=embed.pk)
        log_decision(by=by, about=embed, verb=transition("Enabled", previous, status), reason=reason)


def _delete(embed: Embed) -> None:
    embed.deleted_at = timezone.now()
    _save(embed)
    delete_webhooks_of(target_kind=WebhookTarget.EMBED, target_id=embed.pk)


def _locked(embed_id: UUID) -> Embed:
    return _require_found(Embed.objects.live().select_for_update().filter(pk=embed_id).first())


def _require_found(embed: Embed | None) -> Embed:
    if embed is None:
        raise EmbedNotFound
    return embed


def _require_owner(embed: Embed, owner: Account) -> Embed:
    if embed.owner_id != owner.pk:
        raise NotOwner
    return embed


def _save(embed: Embed) -> None:
    embed.updated_at = timezone.now()
    embed.save()
    invalidate(embed_tag(embed.pk))


def _require_patterns(rules: dict[str, Any]) -> None:
    """Raises InvalidInput (400) for rules by which the widget would show on no page, which its owner would not see."""
    if rules["type"] == PageRuleType.PATTERNS and not rules["patterns"]:
        raise InvalidInput("Send at least one pattern, or the type `all`.", field="pageRules.patterns")


def _require_site_sign_in(embed: Embed, owner: Account) -> None:
    """Raises ModeratorRequired or JwksOff (403), or InvalidInput (400): who signs readers in vouches for them."""
    if embed.sign_in != SignInMode.SERVICE and not moderates(owner, embed.community_id):
        raise ModeratorRequired(field="signIn")
    if not embed.jwks_url:
        return
    if not settings.SSO_JWKS:
        raise JwksOff
    try:
        Receiver.of(embed.jwks_url)
    except ValueError as failure:
        raise InvalidInput(f"Send another address. {failure}", field="jwksUrl") from None


def _check_status(embed: Embed, status: str, owner: Account) -> None:
    """Refuse a change of the status of a disabled embed. Its owner may send the current status back."""
    if status == embed.status:
        return
    if embed.status == EmbedStatus.DISABLED and not owner.is_superuser:
        raise EmbedDisabled
    _refuse_status(status, owner)


def _refuse_status(status: str | None, owner: Account) -> None:
    if status == EmbedStatus.DISABLED and not owner.is_superuser:
        raise InvalidInput(
            "Set status to active or paused: only super admins disable an embed.",
            field="status",
            allowed=[EmbedStatus.ACTIVE, EmbedStatus.PAUSED],
        )
