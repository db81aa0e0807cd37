"""The super admins' site: Django's admin, read-only, with confirmed and logged actions."""
