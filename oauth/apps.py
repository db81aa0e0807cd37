from django.apps import AppConfig


class OAuthConfig(AppConfig):
    name = "oauth"
    verbose_name = "OAuth"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Its receiver ends consents, in commands too, which import no views.
        from oauth import code_grants  # noqa: F401
