from django.apps import AppConfig


class AccountAreaConfig(AppConfig):
    name = "account_area"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Connects the receivers of sign-ins, and of those that strangers have closed.
        from account_area.sign_in import openings, sessions  # noqa: F401
