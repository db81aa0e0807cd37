"""One's own posts and reactions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.me import queries
from account_area.me.forms import ListQuery, PostForm
from account_area.page import READ_METHODS, account_page
from account_area.people import credential_of, person_of
from kernel.api.credentials import Credential
from kernel.writes.retries import retried
from kernel.writes.transaction import write_transaction
from messaging.posts.deleting import delete_message
from messaging.posts.editing import edit_message, lock_for_edit
from reactions.services import remove_reaction


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
        edit_message(post=post, changes=form.changes(form.values_of(post)), transaction=transaction)


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
