from django.apps import AppConfig


class RuntimeConfig(AppConfig):
    """An app without models, for the commands `migrate` and `rotate_secret`."""

    name = "runtime"
    verbose_name = "Runtime"
