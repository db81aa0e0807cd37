from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "kernel.jobs"
    label = "jobs"
    verbose_name = "Jobs"
