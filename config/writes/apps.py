from django.apps import AppConfig


class WritesConfig(AppConfig):
    name = "config.writes"
    # The label of the tables and of applied migrations.
    label = "api"
    verbose_name = "Writes"

    def ready(self) -> None:
        from config.database import checks  # noqa: F401  registers the system checks
