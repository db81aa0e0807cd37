"""The admin site of super admins: Django's admin, read-only, with confirmed and logged actions."""
