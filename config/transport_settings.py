"""The settings of HTTPS, cookies, CSRF and frames."""

from config.address_settings import BASE_URL, HTTPS

# If BASE_URL is https, every request over http is redirected.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0

# With the prefix, browsers accept the cookies from this very host only: no subdomain can set them.
SESSION_COOKIE_NAME = "__Host-sessionid" if HTTPS else "sessionid"
CSRF_COOKIE_NAME = "__Host-csrftoken" if HTTPS else "csrftoken"

SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"

CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_TRUSTED_ORIGINS = [BASE_URL]
CSRF_FAILURE_VIEW = "kernel.api.exception_handler.csrf_failure"

X_FRAME_OPTIONS = "DENY"

# The owner of the domain decides about HSTS for subdomains and about browsers' preload lists.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
