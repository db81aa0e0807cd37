"""The names are those that allauth's functions reverse. None of its other routes exists."""

from __future__ import annotations

from django.urls import path

from account_area.sign_in import factor_views, openings, password_views, provider_views, step_views, views
from account_area.sign_in import password_views as address_views
from account_area.sign_in import step_views as continue_views
from account_area.sign_in import step_views as session_views

urlpatterns = [
    path("sign-in/", views.sign_in, name="account_login"),
    path("sign-in/code/", step_views.second_step, name="mfa_authenticate"),
    path("sign-in/passkey/", step_views.sign_in_with_passkey, name="mfa_login_webauthn"),
    path("sign-in/provider/failed/", provider_views.failed, name="socialaccount_login_error"),
    path("sign-in/provider/cancelled/", provider_views.failed, name="socialaccount_login_cancelled"),
    path("sign-in/provider/handle/", provider_views.sign_up, name="socialaccount_signup"),
    path("sign-in/provider/<slug:provider_id>/", provider_views.begin, name="openid_connect_login"),
    path("sign-in/provider/<slug:provider_id>/back/", provider_views.callback, name="openid_connect_callback"),
    path("sign-in/open/<str:token>/", openings.open_sign_in, name="account_open_sign_in"),
    path("sign-up/", views.sign_up, name="account_signup"),
    path("sign-out/", views.sign_out, name="account_logout"),
    path("continue/", continue_views.continue_in_panel, name="account_continue"),
    path("confirm/", views.confirm, name="account_reauthenticate"),
    path("password/reset/", password_views.request_reset, name="account_reset_password"),
    path("password/reset/<uuid:id>/<str:token>/", password_views.reset, name="account_reset_password_from_key"),
    path("address/<str:key>/", address_views.confirm_address, name="account_confirm_email"),
    path("me/password/", password_views.change, name="account_change_password"),
    path("me/address/", address_views.address, name="account_email"),
    path("me/security/", session_views.security, name="account_security"),
    path("me/security/app/", factor_views.add_app, name="mfa_activate_totp"),
    path("me/security/codes/", factor_views.recovery_codes, name="mfa_view_recovery_codes"),
    path("me/security/passkey/", factor_views.add_passkey, name="mfa_add_webauthn"),
    path("me/security/factors/<int:id>/remove/", factor_views.remove, name="account_remove_factor"),
    path("me/security/sessions/end-all/", session_views.end_everywhere, name="account_end_everywhere"),
    path("me/security/sessions/<slug:key>/end/", session_views.end_session, name="account_end_session"),
    path("me/security/panels/<uuid:id>/end/", session_views.end_panel, name="account_end_panel"),
]
