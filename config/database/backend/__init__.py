"""A database engine: Django's PostgreSQL with a health check of kept connections that asks nobody."""
