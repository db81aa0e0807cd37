"""The HTTP API: what every operation shares. It imports no app of the project."""
