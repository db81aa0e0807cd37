"""The API kernel: what every operation of this service shares, whatever it is about.

It imports no other app of the project; the apps import it.
"""
