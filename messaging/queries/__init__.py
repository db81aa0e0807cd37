"""Statements in SQL, and the answers made of their rows."""
