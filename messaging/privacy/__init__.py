"""Exports of what a person has stored, records for super admins, and erasures of people.

All are jobs (see `jobs`). What the apps store about people is named in `config.extension_points`.
"""

# The names of the jobs.
EXPORT, RECORD, ERASURE = "exports", "records", "erasures"
