from django.apps import AppConfig


class RuntimeConfig(AppConfig):
    """No models: it brings the commands `migrate` and `rotate_secret`."""

    name = "config.runtime"
    verbose_name = "Runtime"
