"""Mails about what happened: one outbox for all hosts, filled from the change log.

`collecting` turns rows of the change log into notices, each once; `sending` makes mails of the notices that wait for a
person. A process that dies between the mail server's answer and the commit sends the mail again: a mail arrives at
least once, and a repeated one has the same Message-ID.
"""
