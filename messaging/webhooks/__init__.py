"""Webhooks: signed requests to the URLs of site owners and operators, one for each change or inbox event.

`deliverer` runs in the worker (kernel/jobs/worker.py), the only process that looks up names and connects to receivers.
"""
