from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "config.api"
    label = "api"
    verbose_name = "API kernel"

    def ready(self) -> None:
        from config.api import checks  # noqa: F401  (registers the system checks)
