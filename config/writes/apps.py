from django.apps import AppConfig


class WritesConfig(AppConfig):
    name = "config.writes"
    # The tables and the applied migrations have this name since the first release.
    label = "api"
    verbose_name = "Writes"

    def ready(self) -> None:
        from config.database import checks  # noqa: F401  (registers the system checks)
