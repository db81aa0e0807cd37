from django.contrib.admin.apps import AdminConfig


class SuperAdminConfig(AdminConfig):
    default_site = "kernel.admin.site.SuperAdminSite"
