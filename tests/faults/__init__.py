"""Injects faults into a running service under load, and checks its guarantees afterwards.

`make faults` runs `python -m tests.faults`, which prints a table of the kinds. The test suite runs a short form.
"""
