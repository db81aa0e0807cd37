import pytest
from django.contrib.auth import get_user_model
from django.test import Client

pytestmark = [pytest.mark.processes, pytest.mark.django_db]


@pytest.fixture
def browser() -> Client:
    get_user_model()._default_manager.create(
        handle="root", name="Root", kind="human", is_staff=True, is_superuser=True, password=""
    )
    return Client(enforce_csrf_checks=True)


def sign_in(browser: Client) -> None:
    account = get_user_model()._default_manager.get(handle="root")
    account.set_password("a long password")
    account.save()
    browser.get("/account/sign-in/")
    token = browser.cookies["csrftoken"].value
    form = {"login": "root", "password": "a long password", "csrfmiddlewaretoken": token}
    assert browser.post("/account/sign-in/?next=/admin/", form).status_code == 302


def test_the_admin_has_sessions_users_and_messages(browser: Client) -> None:
    sign_in(browser)
    answer = browser.get("/admin/")
    assert answer.status_code == 200
    assert answer.wsgi_request.user.handle == "root"
    assert hasattr(answer.wsgi_request, "_messages")


def test_the_admin_refuses_a_form_without_its_token(browser: Client) -> None:
    assert browser.post("/account/sign-in/", {"login": "root", "password": "x"}).status_code == 403


def test_other_paths_have_no_session_user_or_messages(browser: Client) -> None:
    sign_in(browser)
    request = browser.get("/api/schema/").wsgi_request
    assert not hasattr(request, "session")
    assert not hasattr(request, "_messages")
