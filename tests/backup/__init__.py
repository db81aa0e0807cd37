"""Backups: a drill with a running service, and backups that are refused."""
