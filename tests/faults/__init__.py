"""Faults put into the running service under load, and whether it kept its word.

`make faults` runs `python -m tests.faults`: it ends with a table of kinds. The test suite runs a short form.
"""
