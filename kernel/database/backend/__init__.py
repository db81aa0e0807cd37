"""Django's PostgreSQL engine with a health check of persistent connections that sends no query."""
