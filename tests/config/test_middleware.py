import pytest
from django.test import Client

from tests.factories import SuperAdminFactory

pytestmark = pytest.mark.django_db


def test_only_pages_have_sessions_users_messages_and_tokens_of_forms() -> None:
    SuperAdminFactory(handle="root", password="a long password")
    browser = Client(enforce_csrf_checks=True)
    form = {"login": "root", "password": "a long password"}
    assert browser.post("/account/sign-in/", form).status_code == 403
    browser.get("/account/sign-in/")
    form["csrfmiddlewaretoken"] = browser.cookies["csrftoken"].value
    assert browser.post("/account/sign-in/?next=/admin/", form).status_code == 302
    answer = browser.get("/admin/")
    assert answer.status_code == 200
    assert answer.wsgi_request.user.handle == "root"
    assert hasattr(answer.wsgi_request, "_messages")
    other = browser.get("/api/schema/").wsgi_request
    assert not hasattr(other, "session")
    assert not hasattr(other, "_messages")
