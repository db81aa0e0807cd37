from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from account_area.forms import AccountForm
from messaging.accounts.serializers import CODE_MAX, PASSWORD_MAX
from messaging.models.account import HANDLE_MAX, HANDLE_MIN, NAME_MAX

ADDRESS_MAX = 254


def handle_field() -> forms.CharField:
    attributes = {
        "autocomplete": "username",
        "autocapitalize": "none",
        "spellcheck": "false",
        "pattern": "[a-z0-9_]+",
        "dir": "ltr",
    }
    return forms.CharField(
        label=_("Handle"),
        help_text=_("3 to 30 letters a–z, digits and _. It cannot be changed."),
        min_length=HANDLE_MIN,
        max_length=HANDLE_MAX,
        widget=forms.TextInput(attributes),
    )


def name_field() -> forms.CharField:
    return forms.CharField(
        label=_("Name"),
        help_text=_("As others will see it."),
        max_length=NAME_MAX,
        widget=forms.TextInput({"autocomplete": "name", "dir": "auto"}),
    )


def password_field(**options: Any) -> forms.CharField:
    """Of a person who has one."""
    widget = forms.PasswordInput({"autocomplete": "current-password", "dir": "ltr"})
    defaults: dict[str, Any] = {"label": _("Password"), "max_length": PASSWORD_MAX, "strip": False, "widget": widget}
    options = defaults | options
    return forms.CharField(**options)


def new_password_field() -> forms.CharField:
    widget = forms.PasswordInput({"autocomplete": "new-password", "dir": "ltr", "minlength": "8"})
    return password_field(label=_("New password"), help_text=_("At least 8 characters."), widget=widget)


def code_field() -> forms.CharField:
    widget = forms.TextInput({"autocomplete": "one-time-code", "inputmode": "numeric", "dir": "ltr"})
    return forms.CharField(
        label=_("Code"),
        help_text=_("From your authenticator app, or a recovery code."),
        max_length=CODE_MAX,
        widget=widget,
    )


class SignInForm(AccountForm):
    login = forms.CharField(
        label=_("Handle or mail address"),
        max_length=ADDRESS_MAX,
        widget=forms.TextInput({"autocomplete": "username webauthn", "autocapitalize": "none", "spellcheck": "false"}),
    )
    password = password_field()
    api_fields = {"handle": "login"}


class SignUpForm(AccountForm):
    handle = handle_field()
    name = name_field()
    password = new_password_field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].label = _("Password")


class ProviderSignUpForm(AccountForm):
    handle = handle_field()
    name = name_field()


class AddressForm(AccountForm):
    address = forms.EmailField(
        label=_("Mail address"),
        max_length=ADDRESS_MAX,
        widget=forms.EmailInput({"autocomplete": "email", "dir": "ltr"}),
    )


class NewPasswordForm(AccountForm):
    password = new_password_field()


class ChangePasswordForm(AccountForm):
    current = password_field(label=_("Present password"))
    password = new_password_field()


class PasswordForm(AccountForm):
    password = password_field()


class CodeForm(AccountForm):
    code = code_field()


class PasskeyForm(AccountForm):
    name = forms.CharField(
        label=_("Name of the passkey"),
        help_text=_("Such as the device that has it."),
        max_length=60,
        initial=_("Passkey"),
    )
    credential = forms.CharField(widget=forms.HiddenInput, max_length=20_000)
