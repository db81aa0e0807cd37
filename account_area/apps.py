from django.apps import AppConfig


class AccountAreaConfig(AppConfig):
    name = "account_area"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Connects its receiver of sign-ins.
        from account_area.sign_in import sessions  # noqa: F401
