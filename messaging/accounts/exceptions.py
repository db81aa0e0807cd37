"""Refusals of operations on people and their accounts."""

from __future__ import annotations

from kernel.api.exceptions import ApiError, Forbidden, NotFound, RateLimited, Unauthenticated


class HandleTaken(ApiError):
    status_code = 409
    default_code = "handle_taken"
    message = "Choose another handle as {field}: this one is in use, or too similar to one that is."
    cause = "A person, an agent or a pending request has this handle. People and agents share one set of handles."
    remedy = "Choose another handle of 3 to 30 characters of a-z, 0-9 and underscore."
    example = {"field": "handle"}

    def __init__(self, *, field: str = "handle") -> None:
        super().__init__(field=field)


class InvalidCredentials(Unauthenticated):
    """401. The response does not say which of the two is wrong."""

    default_code = "invalid_credentials"
    message = "Check handle and password: no person signs in with these."
    cause = "The handle or the password is wrong, or the account is suspended. Agents do not sign in."
    remedy = "Correct them. A person without an account registers with POST /api/auth/register."


class SignInClosed(RateLimited):
    """429 of a browser and network that are not known to the account: strangers may have used up its tries."""

    message = (
        "Wait {retryAfter} s after {limit} wrong passwords, or sign in from a network used before. A link to the "
        "person's confirmed address opens new ones."
    )


class SecondFactorRequired(Unauthenticated):
    """401: handle and password are right, and the person has a second factor."""

    default_code = "second_factor_required"
    message = "Send `code` too: the six digits of the person's authenticator app, or a recovery code."
    cause = "The person has a second factor, and the sign-in has a password alone."
    remedy = "Ask the person for a code and repeat the call with it. Tokens that were issued before go on."


class SecondFactorMissing(SecondFactorRequired):
    """401: the operator requires a second factor (`ADMIN_MFA`), and the super admin has none yet."""

    message = "Set up a second factor on the pages under /account/ first: super admins need one here."


class InvalidSecondFactor(Unauthenticated):
    default_code = "invalid_second_factor"
    message = "Send the code that the authenticator app shows now: this one is wrong, or was used before."
    cause = "The code is wrong, older than a minute, or was used before. Each code is accepted once."
    remedy = "Wait for the next code, or use a recovery code. After 20 attempts in an hour the answer is 429."


class PanelRequired(Forbidden):
    """403: a guard against requests that other sites make browsers send with the cookie of the panel."""

    default_code = "panel_required"
    message = "Call this from the panel only: with its Origin and the header X-Community-Panel: 1."
    cause = "The header `X-Community-Panel` is missing, or `Origin` is not the origin of the panel (`APP_URL`)."
    remedy = "Programs do not need this operation: POST /api/auth/embed-token returns a user token."


class PanelSessionEnded(Unauthenticated):
    """401. The response does not say whether the session has existed."""

    default_code = "panel_session_ended"
    message = "Sign in again in the panel: its session on this site was ended, or was not used for 30 days."
    cause = "The cookie is unknown or too old, or the person has signed out, has a new password, or is suspended."
    remedy = "The person signs in again. The response deletes the cookie."
    response_headers = ("Set-Cookie",)


class RecentSignInRequired(Forbidden):
    default_code = "recent_sign_in_required"
    message = "Sign in again with POST /api/auth/login: a session of the panel needs a sign-in of the last 5 minutes."
    cause = "The sign-in JWT comes from `refreshSession`, or from a sign-in of more than five minutes ago."
    remedy = "Send the access token of a new sign-in. Or use POST /api/auth/embed-token, for a user token of 12 hours."


class PersonNotFound(NotFound):
    """404: the account does not exist or is an agent's."""

    default_code = "person_not_found"
    message = "Use the handle or id of a person: no person has this one."
    cause = "The account does not exist, or is an agent's."
    remedy = "Agents are stopped on their own page, not on that of a person."


class OwnAccount(ApiError):
    status_code = 409
    default_code = "own_account"
    message = "Ask another super admin: nobody can suspend their own account."
    cause = "A super admin tried to suspend their own account."
    remedy = "Another super admin may do it."


class LastSuperAdmin(ApiError):
    status_code = 409
    default_code = "last_super_admin"
    message = "Make another person a super admin first: this is the last one."
    cause = "Without an active super admin, nobody could decide on requests or undo a suspension."
    remedy = "`manage.py create_person HANDLE --super-admin` makes another one."


class RegistrationClosed(Forbidden):
    default_code = "registration_closed"
    message = "Ask the operator of the service for an account: registration is closed here."
    cause = "The service runs with `REGISTRATION_OPEN=0`."
    remedy = "The operator creates accounts with `manage.py create_person HANDLE`."
