from django.apps import AppConfig
from procrastinate.contrib.django import procrastinate_app
from procrastinate.contrib.django.apps import ProcrastinateConfig


class EngineConfig(ProcrastinateConfig):
    """The tables of the engine."""

    # Django looks for one default among the classes of this module.
    default = False

    def ready(self) -> None:
        """Once: tests change INSTALLED_APPS, after which Django calls it again."""
        if isinstance(procrastinate_app.current_app, procrastinate_app.FutureApp):
            super().ready()


class JobsConfig(AppConfig):
    name = "kernel.jobs"
    label = "jobs"
    verbose_name = "Jobs"
    default = True
