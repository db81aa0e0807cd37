from django.apps import AppConfig


class MovingConfig(AppConfig):
    name = "moving"
    default_auto_field = "django.db.models.BigAutoField"
