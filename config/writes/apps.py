from django.apps import AppConfig


class WritesConfig(AppConfig):
    name = "config.writes"
    # The tables and the applied migrations have this name since the first release.
    label = "api"
    verbose_name = "Writes"

    def ready(self) -> None:
        # The imports register the system checks.
        from config.database import checks as database_checks  # noqa: F401
        from config.writes import checks  # noqa: F401
