"""The accounts of a site: how readers sign in, the secret of the site, the code for its server, a tester of tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from account_area.forms import AccountForm
from account_area.page import account_page
from account_area.people import person_of
from account_area.sites.editing import EditForm
from account_area.sites.queries import own_site, site_page
from account_area.submissions import OnceForm
from embeds.exceptions import SiteSecretNotFound
from embeds.models import ADDRESS_MAX, Embed, SignInMode, SiteSecret
from embeds.site_accounts.code import LANGUAGES, server_code
from embeds.site_accounts.keys import end_secret, rotate_secret
from embeds.site_accounts.services import check
from embeds.site_accounts.tokens import TOKEN_MAX
from messaging.communities.moderators import moderates

# What is wrong with a token, by the claim that the API names. The others are missing, or not what they have to be.
PROBLEMS = {
    "token": _("This is no JSON Web Token."),
    "alg": _("It has to be signed with HS256, or as the public keys of the site allow."),
    "signature": _("It is signed with another key, or the site has none yet."),
    "aud": _("It is for another site: “aud” has to be the id of this one."),
    "iat": _("Its times are wrong: it has to be valid now, and for at most an hour."),
    "exp": _("Its times are wrong: it has to be valid now, and for at most an hour."),
    "jti": _("It was used before, or has no “jti”: each token needs one of its own."),
    "signIn": _("Accounts of your site do not sign in now: choose that above."),
}
OTHER_PROBLEM = _("This is missing, or is not what it has to be.")


class SignInForm(EditForm):
    parts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "sign_in": ("signIn",),
        "address": ("signInUrl",),
        "keys": ("jwksUrl",),
    }
    api_fields: Mapping[str, str] = {"signIn": "sign_in", "signInUrl": "address", "jwksUrl": "keys"}

    sign_in = forms.ChoiceField(
        label=_("How readers sign in"),
        widget=forms.RadioSelect,
        choices=[
            (SignInMode.SERVICE.value, _("With accounts of this service")),
            (SignInMode.OWN.value, _("With accounts of my site")),
            (SignInMode.BOTH.value, _("With either")),
        ],
    )
    address = forms.CharField(
        label=_("Where readers sign in to your site"),
        max_length=ADDRESS_MAX,
        required=False,
        help_text=_("An address. Readers who are signed out get a link to it."),
        widget=forms.URLInput,
    )
    keys = forms.CharField(
        label=_("Address of your public keys"),
        max_length=ADDRESS_MAX,
        required=False,
        help_text=_("Only if you sign with a key of your own instead of the secret: a JWK set."),
        widget=forms.URLInput,
    )

    def __init__(self, embed: Embed, data: Any = None) -> None:
        super().__init__(embed, data)
        if not settings.SSO_JWKS:
            del self.fields["keys"]

    def values_of(self, embed: Embed) -> dict[str, Any]:
        values = {"sign_in": embed.sign_in, "address": embed.sign_in_url}
        return values | ({"keys": embed.jwks_url} if settings.SSO_JWKS else {})


class TokenForm(AccountForm):
    token = forms.CharField(
        label=_("Token"),
        max_length=TOKEN_MAX,
        help_text=_("It is not stored, and can still be used."),
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocapitalize": "off", "dir": "ltr"}),
    )


@account_page
def accounts(request: HttpRequest, embed: UUID) -> HttpResponse:
    """The choices are saved; a token to try is posted, and not stored."""
    site = own_site(request, embed)
    if not moderates(person_of(request), site.community_id):
        return site_page(request, "site-accounts", site, {})
    is_tried = "token" in request.POST
    form = SignInForm(site, request.POST if request.method == "POST" and not is_tried else None)
    if form.is_bound and form.save(person_of(request)):
        messages.success(request, gettext("Saved."))
        return redirect("site-accounts", site.pk)
    tried = TokenForm(request.POST if is_tried else None)
    context: dict[str, Any] = {
        "form": form,
        "secret": SiteSecret.objects.filter(embed=site).first(),
        "secret_form": OnceForm(),
        "code": [(name, server_code(language, embed_id=site.pk)) for language, name in LANGUAGES.items()],
        "token_form": tried,
    }
    if tried.is_valid():
        reading, account = check(embed_id=site.pk, owner=person_of(request), token=tried.cleaned_data["token"].strip())
        context |= {
            "reading": reading,
            "account": account,
            "claims": json.dumps(reading.claims, indent=2, ensure_ascii=False),
            "problems": [(claim, PROBLEMS.get(claim, OTHER_PROBLEM)) for claim, _message in reading.problems],
        }
    return site_page(request, "site-accounts", site, context)


@account_page(methods=["POST"])
def secret(request: HttpRequest, embed: UUID) -> HttpResponse:
    """Make a secret, or another one, and show it once."""
    site = own_site(request, embed)
    person, form = person_of(request), OnceForm(request.POST)
    if not form.is_valid():
        return redirect("site-accounts", site.pk)
    path, made = form.submit_once_with_secret(
        person,
        lambda: rotate_secret(embed_id=site.pk, owner=person),
        lambda _row: reverse("site-accounts", args=[site.pk]),
    )
    if path is None:
        for error in form.non_field_errors():
            messages.error(request, str(error))
        return redirect("site-accounts", site.pk)
    if made is None:
        messages.info(request, gettext("The secret was shown once. If you do not have it, replace it."))
        return redirect(path)
    context = {"row": made[0], "value": made[1]}
    return site_page(request, "site-secret", site, context)


@account_page
def end(request: HttpRequest, embed: UUID) -> HttpResponse:
    site = own_site(request, embed)
    if request.method == "POST":
        try:
            end_secret(embed_id=site.pk, owner=person_of(request))
            messages.success(request, gettext("Ended. Nobody signs in with this secret any more."))
        except SiteSecretNotFound:
            messages.info(request, gettext("The site has no secret any more."))
        return redirect("site-accounts", site.pk)
    context = {
        "heading": gettext("End the secret?"),
        "explanation": gettext(
            "Tokens that are signed with it are refused at once. Readers who are signed in stay so for at most 15 "
            "minutes."
        ),
        "button": gettext("End the secret"),
        "back": reverse("site-accounts", args=[site.pk]),
        "form": AccountForm(),
        "danger": True,
    }
    return render(request, "account_area/confirm.html", context)
