"""Signs readers in with the accounts of a site: each `sub` of a community has one account of this service.

Who vouches for the readers of a community is a moderator of it: embeds of others sign nobody in, so that a stranger who
may use an open community for an embed gets into no account there. The account writes in that community alone
(`Account.site_community`), has no password, and a handle that nobody chooses.
"""

from __future__ import annotations

import hashlib
import secrets
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from embeds.exceptions import (
    EmbedNotActive,
    EmbedNotFound,
    SiteAccountSuspended,
    SiteSignInOff,
    SiteTokenUsed,
)
from embeds.models import Embed, EmbedStatus, SignInMode, SiteAccount, UsedSiteToken
from embeds.services import owned_embed
from embeds.site_accounts.tokens import LEEWAY, Problem, Reading, SiteToken, inspect, read
from kernel.api import jwt, throttling
from kernel.api.exceptions import RateLimited
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import execute
from kernel.writes.deletion import delete_old_in_batches
from kernel.writes.transaction import retried
from messaging.accounts.services import claim_handle
from messaging.accounts.sessions import TOKEN_LIFETIME, PanelToken
from messaging.communities.moderators import appoint, moderated_community, moderates
from messaging.models import Account, Act, Moderator
from messaging.moderation.decisions import log_about_community
from messaging.moderation.exceptions import ModeratorBanned, TooManyModerators
from messaging.privacy.exceptions import AccountBeingErased

HANDLE_PREFIX = "site_"
# Those that look alike are left out.
HANDLE_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
HANDLE_LENGTH = 12
# One sign-in of a subject at a time, so that two at once make one account.
LOCK = "SELECT pg_advisory_xact_lock(hashtext('site account'), hashtext(%(community)s || ' ' || %(subject)s))"
USE = """
INSERT INTO embeds_usedsitetoken (embed_id, digest, expires_at) VALUES (%(embed)s, %(digest)s, %(expires_at)s)
ON CONFLICT DO NOTHING
"""
# A digest stays for longer than its token is valid by the clock of any host.
PRUNED_AFTER = timedelta(hours=1)


def exchange(*, embed_id: UUID, token: str) -> PanelToken:
    """A user token of 15 minutes for the account that a token of the site names, which is made if it is new.

    Call it outside of a transaction: it may read the public keys of the site. Raises EmbedNotFound (404);
    EmbedNotActive, SiteSignInOff, SiteAccountSuspended or AccountBeingErased (403); InvalidSiteToken or SiteTokenUsed
    (401); RateLimited (429) for too many new accounts or moderators.
    """
    embed = Embed.objects.live().select_related("owner").filter(pk=embed_id).first()
    if embed is None:
        raise EmbedNotFound(field="embedId")
    if embed.status != EmbedStatus.ACTIVE:
        raise EmbedNotActive(status=embed.status)
    if embed.sign_in == SignInMode.SERVICE or not _may_vouch(embed):
        raise SiteSignInOff
    return _sign_in(embed=embed, token=read(token, embed=embed))


def _may_vouch(embed: Embed) -> bool:
    return embed.owner.can_act and moderates(embed.owner, embed.community_id)


@retried
@transaction.atomic
def _sign_in(*, embed: Embed, token: SiteToken) -> PanelToken:
    if not execute(USE, _use(embed, token)):
        raise SiteTokenUsed
    execute(LOCK, {"community": str(embed.community_id), "subject": token.subject})
    row = _account_of(embed, token.subject)
    row = _new_account(embed, token) if row is None else _known_account(row, embed, token)
    _sync_moderation(row, embed, token.is_moderator)
    user_token = jwt.issue_user_token(row.account, lifetime=TOKEN_LIFETIME, is_of_panel=True)
    return PanelToken(account=row.account, token=user_token, renewed=False)


def _use(embed: Embed, token: SiteToken) -> dict[str, object]:
    digest = hashlib.sha256(token.token_id.encode()).digest()
    return {"embed": embed.pk, "digest": digest, "expires_at": token.expires_at + timedelta(seconds=LEEWAY)}


def _account_of(embed: Embed, subject: str) -> SiteAccount | None:
    of_community = SiteAccount.objects.filter(community=embed.community_id, subject=subject)
    return of_community.select_related("account").first()


def _new_account(embed: Embed, token: SiteToken) -> SiteAccount:
    throttling.hit("site_account", str(embed.pk))
    handle = HANDLE_PREFIX + "".join(secrets.choice(HANDLE_LETTERS) for _ in range(HANDLE_LENGTH))
    account = Account(handle=handle, name=token.name, site_community_id=embed.community_id)
    account.set_unusable_password()
    account.validate_fields()
    claim_handle(handle=handle)
    account.save(force_insert=True)
    row = SiteAccount(account=account, community_id=embed.community_id, subject=token.subject, email=token.email)
    row.save(force_insert=True)
    return row


def _known_account(row: SiteAccount, embed: Embed, token: SiteToken) -> SiteAccount:
    """The site is the only one who knows the name and the address: what it says last holds."""
    if not row.account.is_active:
        raise SiteAccountSuspended
    if row.account.erasure_due_at is not None:
        raise AccountBeingErased
    SiteAccount.objects.filter(pk=row.pk).update(email=token.email, signed_in_at=Now())
    if row.account.name != token.name:
        # One that changes names all the time has the former ones for a while: a sign-in is not refused for it. Cached
        # responses have the former name for seconds, because emptying the cache is more than a name is worth.
        with suppress(RateLimited):
            throttling.hit("site_account", str(embed.pk))
            Account.objects.filter(pk=row.pk).update(name=token.name)
            row.account.name = token.name
    return row


def _sync_moderation(row: SiteAccount, embed: Embed, claimed: bool) -> None:
    """Make the account a moderator of the embed's community, or end what an earlier token made it.

    The owner moderates the community, so this is what they might do by hand. It is left out for a banned account, and
    where there are too many moderators: the reader signs in all the same.
    """
    if claimed == row.is_moderator:
        return
    community = moderated_community(community_id=embed.community_id, by=embed.owner, lock=True)
    if claimed:
        try:
            is_new = appoint(community, row.account)[1]
        except (ModeratorBanned, TooManyModerators):
            return
        if not is_new:
            return
        throttling.hit("new_moderator", str(embed.owner_id))
        verb, act = f"Moderator {row.account} added by a token of {embed}", Act.ADDED
    else:
        Moderator.objects.filter(community=community, account=row.account).delete()
        invalidate(EVERYTHING)
        verb, act = f"Moderator {row.account} removed by a token of {embed}", Act.REMOVED
    log_about_community(community, act, by=embed.owner, verb=verb, account=row.account)
    SiteAccount.objects.filter(pk=row.pk).update(is_moderator=claimed)


def check(*, embed_id: UUID, owner: Account, token: str) -> tuple[Reading, Account | None]:
    """What a token says and what is wrong with it, and the account that it would sign in. Nothing is used up.

    Raises EmbedNotFound (404), NotOwner (403).
    """
    embed = owned_embed(embed_id=embed_id, owner=owner)
    reading = inspect(token, embed=embed)
    found = reading.token
    if found is None:
        return reading, None
    use = _use(embed, found)
    if UsedSiteToken.objects.filter(embed_id=embed.pk, digest=use["digest"]).exists():
        reading.problems.append(Problem("jti", "This token was exchanged before: sign one for each sign-in."))
    if embed.sign_in == SignInMode.SERVICE:
        reading.problems.append(Problem("signIn", "`signIn` of this embed is `service`: choose `own` or `both`."))
    if not _may_vouch(embed):
        reading.problems.append(Problem("signIn", "You do not moderate the community of this embed."))
    row = _account_of(embed, found.subject)
    return reading, None if row is None else row.account


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the digests of expired tokens, for the command `prune`."""
    before = now - PRUNED_AFTER
    if dry_run:
        return {"used site tokens": UsedSiteToken.objects.filter(expires_at__lt=before).count()}
    return {"used site tokens": delete_old_in_batches(UsedSiteToken, column="expires_at", before=before)}
