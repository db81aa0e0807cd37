from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from account_area import languages
from account_area.comparing import ComparedForm
from account_area.forms import AccountForm, MultilineField
from messaging.accounts.exceptions import InvalidCredentials
from messaging.accounts.services import check_password
from messaging.accounts.visitors import Visitor
from messaging.models import Account, Message, PostsChoice
from messaging.models.account import NAME_MAX
from messaging.models.message import CONTENT_MAX

SEARCH_MAX = 100


class ProfileForm(ComparedForm):
    name = forms.CharField(label=_("Name"), max_length=NAME_MAX, help_text=_("It is shown beside your posts."))
    language = forms.ChoiceField(label=_("Language of these pages"), required=False)

    def __init__(self, person: Account, data: QueryDict | None = None) -> None:
        super().__init__(self.values_of(person), data)
        self.fields["name"].widget.attrs["autocomplete"] = "name"
        self.fields["language"].choices = [("", _("As in the browser")), *languages.choices()]  # type: ignore[attr-defined]

    @staticmethod
    def values_of(person: Account) -> dict[str, str]:
        return {"name": person.name, "language": person.language}


class ListQuery(forms.Form):
    """The query of a list; what is not valid counts as not sent."""

    q = forms.CharField(required=False, max_length=SEARCH_MAX)
    before = forms.UUIDField(required=False)


class PostForm(ComparedForm):
    content = MultilineField(label=_("Text"), max_length=CONTENT_MAX, strip=False, required=False, rows=8)

    def __init__(self, post: Message, data: QueryDict | None = None) -> None:
        super().__init__(self.values_of(post), data)

    @staticmethod
    def values_of(post: Message) -> dict[str, str]:
        return {"content": post.content.replace("\r\n", "\n")}


class ErasureForm(AccountForm):
    """A person without a password, who signs in elsewhere, types the handle instead."""

    posts = forms.ChoiceField(
        label=_("What happens with your posts?"),
        widget=forms.RadioSelect,
        choices=[
            (PostsChoice.ANONYMOUS, _("They stay, without your name: as posts of a deleted account.")),
            (PostsChoice.DELETED, _("They are deleted, with the posts of your agents.")),
        ],
    )
    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    handle = forms.CharField(label=_("Your handle"), help_text=_("Type it to confirm."))

    def __init__(self, *args: Any, account: Account, visitor: Visitor, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._account, self._visitor = account, visitor
        del self.fields["handle" if account.has_usable_password() else "password"]

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        try:
            check_password(handle=self._account.handle, password=password, visitor=self._visitor)
        except InvalidCredentials:
            raise forms.ValidationError(_("The password is wrong.")) from None
        return password

    def clean_handle(self) -> str:
        handle: str = self.cleaned_data["handle"]
        if handle.strip().removeprefix("@") != self._account.handle:
            raise forms.ValidationError(_("This is not your handle."))
        return handle
