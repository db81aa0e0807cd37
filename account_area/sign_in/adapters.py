"""What allauth asks of this service: safe redirects, mails, encrypted secrets, and people made by our service."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context as allauth_context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib import messages
from django.core.mail import EmailMessage
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from kernel.api.addresses import client_address
from kernel.mail import send_after_commit
from messaging.accounts import second_factor
from messaging.models import Account

MAILS = "account_area/mail/"
# Mails about a change of the sign-in, by the name that allauth has for them.
NOTICES = {
    "account/email/email_changed": "address_changed",
    "account/email/email_deleted": "address_changed",
    "mfa/email/totp_activated": "second_factor_changed",
    "mfa/email/totp_deactivated": "second_factor_changed",
    "mfa/email/webauthn_added": "second_factor_changed",
    "mfa/email/webauthn_removed": "second_factor_changed",
    "mfa/email/recovery_codes_generated": "second_factor_changed",
}


def absolute(path: str) -> str:
    """The address in a mail: of the settings, since the Host header may name another one."""
    return f"{settings.BASE_URL}{path}"


def send_mail(name: str, address: str, context: dict[str, Any]) -> None:
    """Send the mail of the templates `<name>_subject.txt` and `<name>.txt`, after the response; to "": make it only."""
    subject = " ".join(render_to_string(f"{MAILS}{name}_subject.txt", context).split())
    text = render_to_string(f"{MAILS}{name}.txt", context).strip() + "\n"
    send_after_commit(EmailMessage(subject, text, to=[address] if address else []))


class AccountAdapter(DefaultAccountAdapter):
    def is_safe_url(self, url: str) -> bool:
        """Paths of this service only."""
        return bool(url) and url.startswith("/") and url_has_allowed_host_and_scheme(url, allowed_hosts=None)

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return settings.REGISTRATION_OPEN

    def is_ajax(self, request: HttpRequest) -> bool:
        return False

    def is_reauthentication_required(self, *, app: str) -> bool:
        """Never asked of allauth: `account_area.sign_in.recent` asks before, and stores no form."""
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request)

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """None of allauth's: our views add theirs."""

    def respond_user_inactive(self, request: HttpRequest, user: Account) -> HttpResponse:
        """A suspended person is told no more than by a wrong password."""
        messages.error(request, _("This sign-in is not possible."))
        return HttpResponseRedirect(reverse("account_login"))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        if template_prefix in NOTICES:
            send_mail(NOTICES[template_prefix], email, {"url": absolute(reverse("account")), "address": email})

    def send_confirmation_mail(self, request: HttpRequest, emailconfirmation: Any, signup: bool) -> None:
        url = absolute(reverse("account_confirm_email", args=[emailconfirmation.key]))
        address = emailconfirmation.email_address
        send_mail("address_check", address.email, {"url": url, "handle": address.user.handle})


class SecondFactorAdapter(DefaultMFAAdapter):
    def encrypt(self, text: str) -> str:
        return second_factor.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return second_factor.decrypt(encrypted_text)

    def get_totp_label(self, user: Any) -> str:
        return f"@{user.handle}"

    def generate_authenticator_name(self, user: Any, type: Any) -> str:
        return _("Passkey")

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        host = allauth_context.request.get_host().partition(":")[0]
        return {"id": host, "name": settings.MFA_TOTP_ISSUER}

    def get_public_key_credential_user_entity(self, user: Any) -> dict[str, Any]:
        entity: dict[str, Any] = super().get_public_key_credential_user_entity(user)
        return entity | {"display_name": user.name, "name": f"@{user.handle}"}


class ProviderAdapter(DefaultSocialAccountAdapter):
    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        # The pending sign-in is stored with the session, which is not encrypted, and the token is not used again.
        sociallogin.token = None
        if not (settings.REGISTRATION_OPEN or sociallogin.is_existing or request.user.is_authenticated):
            messages.error(request, _("New accounts cannot be created at present."))
            raise ImmediateHttpResponse(redirect("account_login"))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return settings.REGISTRATION_OPEN

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: Any) -> Any:
        """Nothing of the provider becomes part of an account unseen: the person chooses handle and name."""
        return sociallogin.user

    def on_authentication_error(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        messages.error(request, _("The sign-in there did not succeed. Try again."))
        raise ImmediateHttpResponse(redirect("account_login"))

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: Any) -> str:
        return reverse("account_security")
