"""Refusals of embeds and of their management."""

from __future__ import annotations

from kernel.api.exceptions import ApiError, Forbidden, NotFound, RefusedToken


class EmbedDisabled(Forbidden):
    default_code = "embed_disabled"
    message = "Ask a super admin: they disabled this embed, and only they may enable it."
    cause = "A super admin disabled the embed."
    remedy = "Its other settings can still be changed."


class EmbedNotFound(NotFound):
    default_code = "embed_not_found"
    message = "Use the id of an existing embed: its owner finds it in the embed code, as data-service-id."
    cause = "The embed of the path, or of the header `x-service-embed-id`, does not exist or was deleted."
    remedy = "GET /api/embeds/instances lists your own. A post that is not sent from an embed needs no header."


class EmbedNotActive(Forbidden):
    """`status` is the status of the embed."""

    default_code = "embed_not_active"
    message = "Wait until the embed is active again: it is {status} now."
    cause = "The owner paused the embed, or a super admin disabled it."
    remedy = "The owner sets its status to `active` with PUT /api/embeds/instances/{id}."
    example = {"status": "paused"}


class DomainNotAllowed(Forbidden):
    default_code = "domain_not_allowed"
    message = "Write from a page that the embed allows: its owner has not allowed this domain."
    cause = "The domain of the page is not in the embed's whitelist, or is in its blacklist."
    remedy = "The owner of the embed adds the domain to `domainWhitelist`, or removes it from the blacklist."


class DomainChecksOff(Forbidden):
    default_code = "domain_checks_off"
    message = "Do not prove hosts here: the operator of this service has turned it off."
    cause = "The service runs with `DOMAIN_CHECKS=0` and does not ask the domain name system."
    remedy = "The operator of the service sets `DOMAIN_CHECKS=1`."


class HostNotFound(NotFound):
    default_code = "host_not_found"
    message = "Use a host of this community: listHosts names them."
    cause = "The community does not prove this host; a moderator may have removed it."
    remedy = "Add it with POST /v1/moderation/communities/{id}/hosts."


class TooManyHosts(ApiError):
    status_code = 409
    default_code = "too_many_hosts"
    message = "Remove a host of this community first: it has {max}, the most allowed."
    cause = "A community may prove 20 hosts."
    remedy = "Remove one that is not needed any more, or ask for another community."
    example = {"max": 20}


class NothingToTrust(ApiError):
    status_code = 409
    default_code = "nothing_to_trust"
    message = "Ask the owner of the embed for a whitelist first: only the hosts on it can be trusted."
    cause = "The embed has no whitelist: it runs on any host."
    remedy = "The owner adds the hosts of the site to `domainWhitelist`."


class SiteSignInOff(Forbidden):
    default_code = "site_sign_in_off"
    message = "Ask the owner of the embed: accounts of the site do not sign in here now."
    cause = "`signIn` of the embed is `service`, or its owner does not moderate its community any more."
    remedy = "The owner, who has to moderate the community, sets `signIn` to `own` or `both`."


class SiteAccountSuspended(Forbidden):
    default_code = "site_account_suspended"
    message = "Ask the operator of this service: they have suspended this account of the site."
    cause = "A super admin suspended the account."
    remedy = "A super admin may undo it. A new secret or token of the site does not."


class InvalidSiteToken(RefusedToken):
    """401. `field`: the claim, or what else is wrong."""

    default_code = "invalid_site_token"
    message = "Sign another token: this one is not what the embed takes."
    cause = "The token is malformed, expired, signed otherwise or for another embed, or a claim is missing or wrong."
    remedy = "The owner pastes a token into the tester on the page of the site, which names all that is wrong with it."


class SiteTokenUsed(RefusedToken):
    default_code = "site_token_used"
    message = "Sign another token with another `jti`: this one was exchanged before."
    cause = "Each token of a site is exchanged once, so that a copy of it is worth nothing."
    remedy = "Sign a token for each sign-in, with a random `jti`."


class JwksOff(Forbidden):
    default_code = "jwks_off"
    message = "Sign with the secret of the embed: the operator of this service has turned key addresses off."
    cause = "The service runs with `SSO_JWKS=0` and reads no keys of other machines."
    remedy = "The operator of the service sets `SSO_JWKS=1`."


class SiteSecretNotFound(NotFound):
    default_code = "site_secret_not_found"
    message = "Nothing to end: this embed has no secret."
    cause = "The embed never had a secret, or it was ended before."
    remedy = "POST /api/embeds/instances/{id}/site-secret makes one."
