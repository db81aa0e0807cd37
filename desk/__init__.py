"""What super admins see of the service as a whole: its numbers by day, its health, notices of both, and a search.

The numbers are rolled up by housekeeping (`rolling`); no page counts posts.
"""
