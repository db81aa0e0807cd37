"""Exports of what a person has stored, records for super admins, and erasures of people.

All are jobs of COMMAND, which any number of hosts may run: each job has a lease. What the apps store about people is
named in `config.extension_points`.
"""

COMMAND = "person_jobs"
