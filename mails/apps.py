from django.apps import AppConfig
from django.conf import settings
from django.core.mail.utils import DNS_NAME


class MailsConfig(AppConfig):
    name = "mails"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Django's mails greet with this name; it has no setting for it."""
        if settings.EMAIL_HELO:
            DNS_NAME._fqdn = settings.EMAIL_HELO
