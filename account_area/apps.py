from django.apps import AppConfig


class AccountAreaConfig(AppConfig):
    name = "account_area"
    default_auto_field = "django.db.models.BigAutoField"
