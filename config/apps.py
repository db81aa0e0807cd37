from django.contrib.admin.apps import AdminConfig


class DeskConfig(AdminConfig):
    default_site = "config.admin.Desk"
