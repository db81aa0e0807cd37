from django.apps import AppConfig


class ReactionsConfig(AppConfig):
    name = "reactions"
    verbose_name = "Reactions"
