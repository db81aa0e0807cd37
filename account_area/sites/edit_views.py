"""The pages that change a site: its look, pages, words and settings."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.page import account_page
from account_area.people import person_of
from account_area.sites.checks import answer
from account_area.sites.edit_forms import LookForm, PagesForm, SettingsForm, WordsForm
from account_area.sites.editing import EditForm
from account_area.sites.forms import AddressForm, TryWordsForm
from account_area.sites.queries import is_new, own_site, site_page
from embeds.models import Embed
from messaging.communities.moderators import moderates
from messaging.markdown.reading import as_read
from messaging.word_lists import compile_words
from messaging.word_lists.marking import marked

FRAMES = {"frame-src": "'self'"}


@account_page(policy=FRAMES)
def look(request: HttpRequest, embed: UUID) -> HttpResponse:
    """The look of a site. In the creation of a site, both buttons save it: one goes on, the other goes back."""
    site = own_site(request, embed)
    form = LookForm(site, request.POST if request.method == "POST" else None)
    if not (form.is_bound and form.save(person_of(request))):
        return site_page(request, "site-look", site, {"form": form})
    if is_new(request):
        return redirect(reverse("site-start" if "back" in request.POST else "site-install", args=[site.pk]) + "?new=1")
    if form.embed.is_inline != site.is_inline:
        messages.success(request, _("Saved. The code of the site is another one now: replace it on your pages."))
        return redirect("site-install", site.pk)
    messages.success(request, _("Saved."))
    return redirect("site-look", site.pk)


@account_page
def settings(request: HttpRequest, embed: UUID) -> HttpResponse:
    site = own_site(request, embed)
    may_export = moderates(person_of(request), site.community_id)
    return _edited(request, "site-settings", site, SettingsForm, may_export=may_export)


@account_page
def pages(request: HttpRequest, embed: UUID) -> HttpResponse:
    site = own_site(request, embed)
    address = AddressForm(request.GET if "address" in request.GET else None)
    tried = answer(site, address.cleaned_data["address"]) if address.is_valid() else None
    return _edited(request, "site-pages", site, PagesForm, address_form=address, answer=tried)


@account_page
def words(request: HttpRequest, embed: UUID) -> HttpResponse:
    """The list of blocked words; a text to try it with is posted, and not stored."""
    site = own_site(request, embed)
    if request.method != "POST" or "text" not in request.POST:
        return _edited(request, "site-words", site, WordsForm, try_form=TryWordsForm())
    context: dict[str, Any] = {"form": WordsForm(site), "try_form": (tried := TryWordsForm(request.POST))}
    if tried.is_valid():
        text = as_read(tried.cleaned_data["text"])
        found = compile_words(tuple(site.blocked_words)).matches(text)
        context |= {
            "is_tried": True,
            "pieces": marked(text, found),
            "found": list(dict.fromkeys(one.word for one in found)),
        }
    return site_page(request, "site-words", site, context)


def _edited(request: HttpRequest, name: str, site: Embed, form_class: type[EditForm], **context: Any) -> HttpResponse:
    """Show the form of a page, or save it and show the page again."""
    form = form_class(site, request.POST if request.method == "POST" else None)
    if form.is_bound and form.save(person_of(request)):
        messages.success(request, _("Saved."))
        return redirect(name, site.pk)
    return site_page(request, name, site, {"form": form} | context)
