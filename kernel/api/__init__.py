"""The HTTP API: the code that all operations share. It imports no app of the project."""
