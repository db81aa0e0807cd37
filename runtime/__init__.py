"""`make run`: the embedded PostgreSQL, the server, scheduled commands, and commands of operators."""
