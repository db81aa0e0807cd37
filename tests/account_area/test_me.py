"""The pages of a person's own account: profile, posts, reactions, export and erasure."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from kernel.jobs.queue import run_due
from messaging.models import Account, Message, PersonErasure, PersonExport, PostsChoice
from messaging.models.message import CONTENT_MAX
from messaging.privacy.erasing import request_erasure
from reactions.models import Reaction
from tests.account_area.second_factors import add_app
from tests.admin.bystanders import Unchanged
from tests.agents.racing import race
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
ME = "/account/me/"
PASSWORD = "correct horse battery"


@pytest.fixture
def person() -> Account:
    account: Account = PersonFactory(password=PASSWORD)
    return account


def posts(count: int, author: Account, **fields: Any) -> list[Message]:
    page = PageFactory()
    return [MessageFactory(author=author, page=page, **fields) for _ in range(count)]


def opened(client: Client, path: str) -> str:
    """The hidden field of a form that is open in a tab."""
    return field_of(client.get(path).content.decode())


def field_of(page: str) -> str:
    match = re.search(r'name="opened" value="([^"]*)"', page)
    assert match
    return match.group(1)


def test_a_new_name_is_shown_on_all_posts_at_once(client: Client, person: Account) -> None:
    (post,) = posts(1, person)
    assert Api().get(f"/api/messages/{post.pk}").json["author"]["name"] == person.name
    response = client.post(ME, {"name": "  Ada  Byron ", "language": "de"}, follow=True)
    assert response.status_code == 200
    assert b'lang="de"' in response.content
    assert Api().get(f"/api/messages/{post.pk}").json["author"]["name"] == "Ada Byron"


def test_a_profile_that_was_opened_before_a_newer_save_changes_only_what_was_typed(
    client: Client, person: Account
) -> None:
    stale = {"opened": opened(client, ME), "name": person.name, "language": "de"}
    assert client.post(ME, {"opened": opened(client, ME), "name": "Newer", "language": ""}).status_code == 302
    page = client.post(ME, stale).content.decode()
    assert "changed elsewhere" in page
    assert 'value="Newer"' in page
    person.refresh_from_db()
    assert (person.name, person.language) == ("Newer", "")
    again = stale | {"opened": field_of(page), "name": "Newer"}
    assert client.post(ME, again).status_code == 302
    person.refresh_from_db()
    assert (person.name, person.language) == ("Newer", "de")


def test_a_profile_says_which_newer_values_it_would_replace(client: Client, person: Account) -> None:
    stale = {"opened": opened(client, ME), "name": "Typed", "language": "fr"}
    client.post(ME, {"opened": opened(client, ME), "name": "Newer", "language": "es"})
    page = client.post(ME, stale).content.decode()
    assert 'value="Typed"' in page
    assert all(text in page for text in (": Newer", ": Español"))
    assert client.post(ME, stale | {"opened": field_of(page)}).status_code == 302
    person.refresh_from_db()
    assert (person.name, person.language) == ("Typed", "fr")


def test_a_bad_name_or_language_is_refused_on_its_field(client: Client, person: Account) -> None:
    for name in ("", " ", "x" * 61, "a\u202eb", "\u200b\u200b", "a\x07b", "Fine"):
        response = client.post(ME, {"name": name, "language": "xx" if name == "Fine" else ""})
        assert (response.status_code, b"errorlist" in response.content) == (200, True), name
    assert Account.objects.get(pk=person.pk).name == person.name


def test_the_list_has_own_posts_and_pages_with_a_fixed_number_of_queries(
    client: Client, person: Account, django_assert_num_queries: Any
) -> None:
    posts(45, person)
    posts(1, PersonFactory(), content="Of another person")
    posts(1, person, status="deleted")
    seen, path = 0, "/account/me/posts/"
    while path:
        with django_assert_num_queries(5):
            text = client.get(path).content.decode()
        assert "Of another person" not in text
        seen += text.count("/delete/")
        path = "/account/me/posts/" + text.split('rel="next" href="')[1].split('"')[0] if 'rel="next"' in text else ""
    assert seen == 45
    with django_assert_num_queries(4):
        assert client.get("/account/me/reactions/").status_code == 200


def test_a_bad_query_of_a_list_is_ignored(client: Client) -> None:
    for query in ("before=x", "q=" + "x" * 500, "before=" + "0" * 99, "q=%25_%27"):
        assert client.get(f"/account/me/posts/?{query}").status_code == 200, query
        assert client.get(f"/account/me/reactions/?{query}").status_code == 200, query


def test_posts_are_searched_by_their_words_and_shown_as_text(client: Client, person: Account) -> None:
    posts(1, person, content="<script>alert('needle')</script>")
    posts(1, person, content="only hay")
    text = client.get("/account/me/posts/?q=NEEDLE").content.decode()
    assert "&lt;script&gt;" in text
    assert "only hay" not in text


def test_a_post_is_edited_in_its_window_and_deleted_at_any_time(
    client: Client, person: Account, unchanged: Unchanged
) -> None:
    recent, old, other = posts(3, person)
    unchanged(other)
    Message.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(hours=1))
    edit = f"/account/me/posts/{recent.pk}/edit/"
    assert client.post(edit, {"content": "New text"}).status_code == 302
    assert Api().get(f"/api/messages/{recent.pk}").json["content"] == "New text"
    assert b"errorlist" in client.post(edit, {"content": ""}).content
    late = client.post(f"/account/me/posts/{old.pk}/edit/", {"content": "Late"})
    assert b"too late" in late.content
    for post in (recent, old):
        assert client.get(f"/account/me/posts/{post.pk}/delete/").status_code == 200
        assert client.post(f"/account/me/posts/{post.pk}/delete/").status_code == 302
        assert client.post(f"/account/me/posts/{post.pk}/delete/").status_code == 404
        assert Api().get(f"/api/messages/{post.pk}").status == 404


def test_line_ends_of_a_form_are_those_of_the_post(client: Client, person: Account) -> None:
    content = "\n" * (CONTENT_MAX - 1) + "b"
    (post,) = posts(1, person, content=content)
    edit = f"/account/me/posts/{post.pk}/edit/"
    assert client.post(edit, {"content": content.replace("\n", "\r\n")}).status_code == 302
    post.refresh_from_db()
    assert (post.content, post.edited_at, post.versions.count()) == (content, None, 0)


def test_an_edit_that_was_opened_before_a_newer_one_is_refused_and_shows_it(client: Client, person: Account) -> None:
    (post,) = posts(1, person, content="First\r\ntext")
    edit = f"/account/me/posts/{post.pk}/edit/"
    stale = {"opened": opened(client, edit), "content": "Of the first tab"}
    untouched = {"opened": opened(client, edit), "content": "First\r\ntext"}
    assert Api.as_person(person).put(f"/api/messages/{post.pk}", {"content": "Newer text"}).status == 200
    page = client.post(edit, stale).content.decode()
    assert "changed elsewhere" in page
    assert "Saved meanwhile: Newer text" in page
    assert "Of the first tab</textarea>" in page
    assert "Newer text</textarea>" in client.post(edit, untouched).content.decode()
    post.refresh_from_db()
    assert (post.content, post.versions.count()) == ("Newer text", 1)
    assert client.post(edit, stale | {"opened": field_of(page)}).status_code == 302
    post.refresh_from_db()
    assert (post.content, post.versions.count()) == ("Of the first tab", 2)


def test_a_blocked_word_in_an_edit_is_refused_in_the_form(client: Client, person: Account) -> None:
    (post,) = posts(1, person, community=CommunityFactory(blocked_words=["badword"]))
    response = client.post(f"/account/me/posts/{post.pk}/edit/", {"content": "a badword"})
    assert response.status_code == 200
    assert b"errorlist" in response.content


def test_a_reaction_is_removed(client: Client, person: Account, unchanged: Unchanged) -> None:
    post, other = posts(2, PersonFactory())
    for each in (post, other):
        body = {"messageId": str(each.pk), "emoji": "🎉"}
        assert Api.as_person(person).post("/v1/reactions", body).status == 200
    unchanged(Reaction.objects.get(message=other))
    remove = f"/account/me/reactions/{Reaction.objects.get(message=post).pk}/remove/"
    assert client.get(remove).status_code == 405
    assert client.post(remove).status_code == 302
    assert client.post(remove).status_code == 404
    assert Api().get(f"/api/messages/{post.pk}").json["reactionTotal"] == 0


def test_what_belongs_to_another_person_does_not_exist(client: Client) -> None:
    other = PersonFactory()
    (post,) = posts(1, other)
    assert Api.as_person(other).post("/v1/reactions", {"messageId": str(post.pk), "emoji": "🎉"}).status == 200
    export = PersonExport.objects.create(account=other, status="ready")
    for path in (f"posts/{post.pk}/edit/", f"posts/{post.pk}/delete/", f"export/{export.pk}/"):
        assert client.get(ME + path).status_code == 404
        assert client.post(ME + path).status_code in {404, 405}
    assert client.post(f"{ME}reactions/{Reaction.objects.get().pk}/remove/").status_code == 404
    assert Reaction.objects.exists()
    assert "🎉" not in client.get(f"{ME}reactions/").content.decode()


def test_an_export_is_asked_for_made_and_downloaded(client: Client, person: Account) -> None:
    path = "/account/me/export/"
    assert client.post(path).status_code == 302
    waiting = client.get(path)
    assert (waiting["Refresh"], waiting.content.count(b"<progress")) == ("3", 1)
    assert client.get(f"{path}{PersonExport.objects.get().pk}/").status_code == 404
    run_due("exports")
    ready = client.get(path)
    assert "Refresh" not in ready
    response = client.get(f"{path}{PersonExport.objects.get().pk}/")
    assert response["Content-Disposition"].startswith(f'attachment; filename="{person.handle}-')
    assert response["Cache-Control"] == "private, no-store"
    data = b"".join(response.streaming_content)  # type: ignore[attr-defined]
    assert len(data) == int(response["Content-Length"])
    assert "export/index.html" in zipfile.ZipFile(io.BytesIO(data)).namelist()
    for _ in range(2):
        client.post(path)
        run_due("exports")
    assert client.post(path).status_code == 429


def test_an_erasure_needs_the_password_and_is_cancelled_after_a_new_sign_in(
    client: Client, person: Account, unchanged: Unchanged
) -> None:
    path, other = "/account/me/erase/", PersonFactory()
    request_erasure(person=other, posts=PostsChoice.ANONYMOUS, by=other)
    unchanged(PersonErasure.objects.get(), Account.objects.get(pk=other.pk))
    wrong = client.post(path, {"posts": "deleted", "password": "not it"})
    assert b"errorlist" in wrong.content
    assert b"errorlist" in client.post(path, {"password": PASSWORD}).content
    assert not PersonErasure.objects.filter(account=person).exists()
    elsewhere = Client()
    elsewhere.force_login(person)
    form = {"posts": "deleted", "password": PASSWORD}
    assert client.post(path, form).status_code == 302
    assert elsewhere.get(ME).status_code == 302
    assert client.get("/account/")["Location"] == path
    # Sent again, the form does not cancel.
    assert client.post(path, form).status_code == 200
    assert PersonErasure.objects.get(account=person).posts == "deleted"
    elsewhere.force_login(Account.objects.get(pk=person.pk))
    assert elsewhere.get(ME)["Location"] == path
    assert elsewhere.post(path, {"cancel": "1"}).status_code == 302
    assert elsewhere.get(ME).status_code == 200
    assert not PersonErasure.objects.filter(account=person).exists()


def test_a_person_without_a_password_types_the_handle() -> None:
    person, client = PersonFactory(), Client()
    client.force_login(person)
    wrong, right = ({"posts": "anonymous", "handle": handle} for handle in ("other", f"@{person.handle}"))
    assert b"errorlist" in client.post("/account/me/erase/", wrong).content
    assert client.post("/account/me/erase/", right).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_of_presses_at_once_one_cancels_the_erasure(person: Account) -> None:
    path, other = "/account/me/erase/", PersonFactory()
    for each in (person, other):
        request_erasure(person=each, posts=PostsChoice.ANONYMOUS, by=each)
    clients = [Client() for _ in range(6)]
    for client in clients:
        client.force_login(Account.objects.get(pk=person.pk))
    pages = race(6, lambda number: clients[number].post(path, {"cancel": "1"}))
    later = clients[0].post(path, {"cancel": "1"})
    assert sorted(page.status_code for page in pages) == [302] + [404] * 5
    for page in (*(page for page in pages if page.status_code == 404), later):
        assert "There is nothing to cancel any more." in page.content.decode()
    assert [erasure.account_id for erasure in PersonErasure.objects.all()] == [other.pk]


def test_the_last_super_admin_is_told_why_not() -> None:
    boss, client = SuperAdminFactory(password=PASSWORD), Client()
    client.force_login(boss)
    response = client.post("/account/me/erase/", {"posts": "anonymous", "password": PASSWORD})
    assert b"last super admin" in response.content
    assert not PersonErasure.objects.exists()


def test_passwords_are_not_tried_without_limit(client: Client, settings: Any) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"sign_in_account": (3, 3600)}
    pages = [
        ("/account/me/erase/", {"password": "wrong"}),
        ("/account/confirm/", {"password": "wrong"}),
        ("/account/me/password/", {"current": "wrong", "password": "another one 17"}),
    ]
    assert all(b"password is wrong" in client.post(*page).content for page in pages)
    assert client.post(*pages[0]).status_code == 429
    assert all(b"Too many requests" in client.post(*page).content for page in pages[1:])


def test_with_a_second_factor_the_erasure_asks_for_it_again(client: Client, person: Account) -> None:
    add_app(person)
    path = "/account/me/erase/"
    for response in (client.get(path), client.post(path, {"posts": "deleted", "password": PASSWORD})):
        assert response["Location"].startswith("/account/confirm/?next=")
    assert not PersonErasure.objects.exists()
