"""Generated requests for a running service. `make fuzz` runs `python -m tests.fuzz`; the suite runs a short form."""
