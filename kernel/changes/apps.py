from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ChangesConfig(AppConfig):
    name = "kernel.changes"
    label = "changes"
    verbose_name = "Change log"

    def ready(self) -> None:
        from kernel.changes.restored import adopt_restored_log

        post_migrate.connect(adopt_restored_log, sender=self, dispatch_uid="adopt_restored_log")
