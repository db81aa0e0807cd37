"""SQL statements, and response bodies from their rows."""
