"""The limits of streams (settings of the same names)."""

from config import env

# A comment is sent after this time without an event. Clients take a connection for dead after 45 seconds of silence,
# nginx (deploy/nginx.conf) after 60.
STREAM_HEARTBEAT_SECONDS = env.integer("STREAM_HEARTBEAT_SECONDS", 15, minimum=1, maximum=30)
STREAMS_PER_ADDRESS = env.integer("STREAMS_PER_ADDRESS", 20, minimum=1)
STREAMS_PER_TOKEN = env.integer("STREAMS_PER_TOKEN", 5, minimum=1)
