"""Connections to PostgreSQL, written statements, and checks of the database."""
