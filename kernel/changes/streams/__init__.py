"""Live streams of the change log (server-sent events), served by an ASGI process beside the workers.

`opening` decides in a view whether a stream may be opened, `application` serves it, `hub` reads the log once for all
streams, `delivery` sends events to one client.
"""
