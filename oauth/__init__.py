"""Tokens by OAuth: `/oauth/token` for every grant type, and what each grant needs beside it.

Pages that ask a person are in `account_area`, which calls the services of this app.
"""
