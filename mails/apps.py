from django.apps import AppConfig


class MailsConfig(AppConfig):
    name = "mails"
    default_auto_field = "django.db.models.BigAutoField"
