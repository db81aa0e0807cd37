"""Exports of what a person has stored, and erasures of people.

Both are jobs of the command `person_jobs`, which any number of hosts may run: each job has a lease. What the apps store
about people is named in `config.extension_points`.
"""
