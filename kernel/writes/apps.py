from django.apps import AppConfig


class WritesConfig(AppConfig):
    name = "kernel.writes"
    # The label of the tables and of applied migrations.
    label = "api"
    verbose_name = "Writes"

    def ready(self) -> None:
        # The imports register the system checks.
        from kernel.database import checks as database_checks  # noqa: F401
        from kernel.writes import checks  # noqa: F401
