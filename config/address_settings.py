"""The settings of addresses: what the service listens on, how it is reached, who is told of vulnerabilities."""

from config import env
from runtime import bind_address

PORT = env.integer("PORT", 8000, minimum=1, maximum=65535)
BASE_URL = env.origin("BASE_URL", bind_address.origin(PORT))
APP_URL = env.origin("APP_URL", BASE_URL)
HTTPS = BASE_URL.startswith("https://")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", bind_address.local_hosts_and(BASE_URL, APP_URL))
LOCAL_HOST = bind_address.local_host()  # where the processes of this host reach one another
# Addresses or networks of the proxies whose X-Forwarded-For and X-Request-ID headers are trusted.
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")

# Streams of changes. A process beside the workers serves them on STREAM_PORT; STREAM_URL is its public origin. With
# STREAMS=0 the service starts none, and STREAM_URL is that of a process which is started otherwise.
STREAMS = env.flag("STREAMS", default=True)
STREAM_PORT = bind_address.stream_port(PORT)
HAS_STREAMS = STREAMS or bool(env.text("STREAM_URL"))
STREAM_URL = env.origin("STREAM_URL", bind_address.stream_origin(PORT, BASE_URL)) if HAS_STREAMS else None

# Where people report vulnerabilities: an address such as mailto:security@example.com, for /.well-known/security.txt.
SECURITY_CONTACT = env.contact("SECURITY_CONTACT")
