"""The page "Settings": the profile, and the way to all other pages of one's own.

The imported posts that a person may take over: those of foreign authors with an address of theirs.

The export of one's data, and the erasure of oneself.

One's own posts and reactions.
"""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.me import queries
from account_area.me.forms import ErasureForm, ListQuery, PostForm, ProfileForm
from account_area.me.queries import locked_person
from account_area.page import READ_METHODS, account_page, error_page
from account_area.people import credential_of, person_of
from account_area.sign_in.recent import is_recent
from kernel.api.credentials import Credential
from kernel.api.exceptions import ApiError, NotFound
from kernel.api.ids import parse_id
from kernel.writes.transaction import retried, write_transaction
from messaging.accounts.second_factor import has_second_factor
from messaging.accounts.services import change_profile
from messaging.accounts.visitors import visitor_of
from messaging.models import Account, PersonErasure, PostsChoice
from messaging.posts.deleting import delete_message
from messaging.posts.editing import edit_message, lock_for_edit
from messaging.privacy.erasing import cancel_erasure, erasure_of, request_erasure
from messaging.privacy.exports import content_of, exports_of, ready_export, request_export
from moving.claims import claim, claim_site_account, claimable_by, has_claimed, site_accounts_claimable_by
from moving.exceptions import ImportNotFound
from reactions.services import remove_reaction

LISTED_MAX = 100


@account_page
def imported_posts(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    if request.method == "POST" and "site_account" in request.POST:
        account_id = parse_id(request.POST["site_account"], missing=ImportNotFound)
        return _taken_over(request, is_done=claim_site_account(account_id=account_id, person=person))
    if request.method == "POST":
        author = request.POST.get("author", "")
        if not (author.isascii() and author.isdecimal()) or len(author) > 18:
            raise NotFound
        try:
            is_done = claim(author_id=int(author), person=person)
        except ImportNotFound:
            if not has_claimed(author_id=int(author), person=person):
                raise
            messages.info(request, _("These posts are yours already."))
            return redirect("account_imported_posts")
        return _taken_over(request, is_done=is_done)
    context = {
        "authors": list(claimable_by(person)[:LISTED_MAX]),
        "site_accounts": list(site_accounts_claimable_by(person)[:LISTED_MAX]),
    }
    return render(request, "account_area/me/imported_posts.html", context)


def _taken_over(request: HttpRequest, *, is_done: bool) -> HttpResponse:
    if is_done:
        messages.success(request, _("These posts are yours now."))
    else:
        messages.info(request, _("Many of these posts are yours now. Press the button again for the others."))
    return redirect("account_imported_posts")


# While an export is made, the page is loaded again, also without scripts.
REFRESH_SECONDS = 3


@account_page
def export(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    if request.method == "POST":
        request_export(person=person)
        return redirect("account_export")
    exports = exports_of(person=person)
    context = {"exports": exports, "is_waiting": any(export.is_unfinished for export in exports)}
    response = render(request, "account_area/me/export.html", context)
    if context["is_waiting"]:
        response.headers["Refresh"] = str(REFRESH_SECONDS)
    return response


@account_page(methods=READ_METHODS)
def download(request: HttpRequest, export_id: UUID) -> HttpResponse:
    found = ready_export(export_id=export_id, person=person_of(request))
    name = f"{person_of(request).handle}-{found.requested_at:%Y-%m-%d}.zip"
    headers = {"Content-Length": str(found.size), "Content-Disposition": f'attachment; filename="{name}"'}
    content = StreamingHttpResponse(content_of(found), content_type="application/zip", headers=headers)
    return cast(HttpResponse, content)


@account_page
def erase(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    erasure = erasure_of(person.pk)
    if erasure is not None or "cancel" in request.POST:
        return _waiting(request, person, erasure)
    if has_second_factor(account=person) and not is_recent(request):
        return redirect(f"{reverse('account_reauthenticate')}?{urlencode({'next': request.path})}")
    form = ErasureForm(request.POST or None, account=person, visitor=visitor_of(request, session_of=person.pk))
    if request.method == "POST" and form.is_valid():
        posts = PostsChoice(form.cleaned_data["posts"])
        if form.carry_out(request_erasure, person=person, posts=posts, by=person) is not None:
            _stay_signed_in(request, person)
            return redirect("account_erase")
    return render(request, "account_area/me/erase.html", {"form": form})


def _waiting(request: HttpRequest, person: Account, erasure: PersonErasure | None) -> HttpResponse:
    # The form of the erasure, sent again, must not cancel it.
    if "cancel" in request.POST:
        try:
            cancel_erasure(person=person, by=person)
        except ApiError as refusal:
            return error_page(request, refusal)
        messages.success(request, _("Your account stays."))
        return redirect("account_me")
    return render(request, "account_area/me/erasure_waiting.html", {"erasure": erasure})


def _stay_signed_in(request: HttpRequest, person: Account) -> None:
    """All sessions have ended. This browser gets another one, which can only cancel the erasure."""
    person.refresh_from_db()
    login(request, person, backend="django.contrib.auth.backends.ModelBackend")


@account_page(methods=READ_METHODS)
def posts(request: HttpRequest) -> HttpResponse:
    query = _query(request)
    words = query.get("q", "")
    listed = queries.own_posts(person_of(request), words=words, before=query.get("before"))
    return render(request, "account_area/me/posts.html", {"listed": listed, "words": words})


@account_page
def edit_post(request: HttpRequest, message_id: UUID) -> HttpResponse:
    post = queries.own_post(person_of(request), message_id)
    form = PostForm(post, request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.carry_out(_edit, form=form, auth=credential_of(request), message_id=message_id)
        if not form.errors:
            messages.success(request, _("Saved."))
            return redirect("account_posts")
    context = {"form": form, "post": post, "is_editable": queries.is_editable(post)}
    return render(request, "account_area/me/edit_post.html", context)


@account_page
def delete_post(request: HttpRequest, message_id: UUID) -> HttpResponse:
    post = queries.own_post(person_of(request), message_id)
    if request.method == "POST":
        _delete(auth=credential_of(request), message_id=message_id)
        messages.success(request, _("The post is deleted."))
        return redirect("account_posts")
    context = {"post": post, "back": reverse("account_posts")}
    return render(request, "account_area/me/delete_post.html", context)


@account_page(methods=READ_METHODS)
def reactions(request: HttpRequest) -> HttpResponse:
    listed = queries.own_reactions(person_of(request), before=_query(request).get("before"))
    return render(request, "account_area/me/reactions.html", {"listed": listed})


@account_page(methods=("POST",))
def remove_own_reaction(request: HttpRequest, reaction_id: UUID) -> HttpResponse:
    _remove(auth=credential_of(request), reaction_id=reaction_id)
    messages.success(request, _("The reaction is removed."))
    return redirect("account_reactions")


def _edit(*, form: PostForm, auth: Credential, message_id: UUID) -> None:
    with write_transaction() as transaction:
        post = lock_for_edit(auth=auth, message_id=message_id)
        edit_message(post=post, changes=form.changes(form.values_of(post)), auth=auth, transaction=transaction)


@retried
def _delete(*, auth: Credential, message_id: UUID) -> None:
    with write_transaction() as transaction:
        delete_message(auth=auth, message_id=message_id, transaction=transaction)


@retried
def _remove(*, auth: Credential, reaction_id: UUID) -> None:
    with write_transaction() as transaction:
        remove_reaction(auth=auth, transaction=transaction, reaction_id=reaction_id)


def _query(request: HttpRequest) -> dict[str, Any]:
    query = ListQuery(request.GET)
    query.is_valid()
    return query.cleaned_data


@account_page
def overview(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    form = ProfileForm(person, request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.carry_out(_change, form=form, person=person)
        if not form.errors:
            messages.success(request, _("Saved."))
            return redirect("account_me")
    return render(request, "account_area/me/overview.html", {"form": form, "person": person})


def _change(*, form: ProfileForm, person: Account) -> None:
    current = form.values_of(locked_person(person.pk))
    change_profile(account=person, **(current | form.changes(current)))
