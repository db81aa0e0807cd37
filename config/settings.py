"""Django settings. The environment sets what differs between deployments (see docs/operations.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config import derived, env, secrets
from config.extension_points import (
    ADMIN_INDEX,
    ADMIN_PANELS,
    ADMIN_URLS,
    CONTENT_RULES,
    CREDENTIAL_CHECKS,
    DELIVERERS,
    DEMO_PARTS,
    EMBED_VIEWS,
    HOUSEKEEPING,
    JOBS,
    MAIL_ROUNDS,
    MOVED_PAGES,
    OPERATOR_OF,
    PAGE_COMMUNITIES,
    PERSON_ERASERS,
    PERSON_EXPORTERS,
    PERSON_STOPPERS,
    PRUNERS,
    RECORD_EXPORTERS,
    UPLOADS,
    WEBHOOK_TARGETS,
)
from config.logging import LOGGING
from config.throttles import ATTEMPT_LIMITS, SOFT_THROTTLES
from config.version import VERSION
from kernel.api.bodies import BODY_MAX
from kernel.api.openapi import metadata
from kernel.cache.django_cache import caches
from kernel.database import deployment
from runtime import bind_address, postgres

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env.folder("DATA_DIR", BASE_DIR / ".data")
DEBUG = env.flag("DEBUG", default=False)

# Addresses: what the service listens on, how it is reached, who is told of vulnerabilities.
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
# A comment is sent after this time without an event. Clients take a connection for dead after 45 seconds of silence,
# nginx (deploy/nginx.conf) after 60.
STREAM_HEARTBEAT_SECONDS = env.integer("STREAM_HEARTBEAT_SECONDS", 15, minimum=1, maximum=30)
STREAMS_PER_ADDRESS = env.integer("STREAMS_PER_ADDRESS", 20, minimum=1)
STREAMS_PER_TOKEN = env.integer("STREAMS_PER_TOKEN", 5, minimum=1)

# Where people report vulnerabilities: an address such as mailto:security@example.com, for /.well-known/security.txt.
SECURITY_CONTACT = env.contact("SECURITY_CONTACT")
CONTENT_SIGNAL = env.content_signal("CONTENT_SIGNAL", "search=yes, ai-input=yes, ai-train=no")
SERVICE_NAME = env.text("SERVICE_NAME", "Community Messaging")  # on the start page of a service without the demo
IMPRINT_URL, TERMS_URL, PRIVACY_URL = env.link("IMPRINT_URL"), env.link("TERMS_URL"), env.link("PRIVACY_URL")

# Secrets. During a rotation the previous value is accepted as well.
SECRET_KEY = secrets.read("SECRET_KEY", data=DATA_DIR, debug=DEBUG)
ROOT_KEY = secrets.read("ROOT_KEY", data=DATA_DIR, debug=DEBUG)
ROOT_KEY_PREVIOUS = secrets.read_previous("ROOT_KEY", data=DATA_DIR)
TOKEN_PEPPER = secrets.read("TOKEN_PEPPER", data=DATA_DIR, debug=DEBUG)
TOKEN_PEPPER_PREVIOUS = secrets.read_previous("TOKEN_PEPPER", data=DATA_DIR)

SIMPLE_JWT = derived.jwt_settings(SECRET_KEY)  # its signing key is derived

# What people may do.
REGISTRATION_OPEN = env.flag("REGISTRATION_OPEN", default=True)
COMMUNITY_CREATION = env.choice("COMMUNITY_CREATION", "open", ("open", "closed"))  # super admins always may
EDIT_MINUTES = env.integer("EDIT_MINUTES", 15, minimum=0)  # after the post was written
# Of a file that is imported in the account area, in bytes.
IMPORT_UPLOAD_MAX = env.integer("IMPORT_UPLOAD_MAX_MB", 200, minimum=0, maximum=4_000) * 1_000_000
IMPORT_DISK_MAX = env.integer("IMPORT_DISK_MAX_MB", 2_000, minimum=0) * 1_000_000  # of all of them, until imported

# What an agent may do in an hour.
HOURLY_LIMITS = {"post": 30, "reply": 30, "quote": 30, "react": 120}

# What a write gets whose Idempotency-Key belongs to another write: the first response, or a refusal.
IDEMPOTENCY_MISMATCH = env.choice("IDEMPOTENCY_MISMATCH", "replay", ("replay", "reject"))

# Seconds for which a process collects uses of agent tokens, or visits of widgets, before it writes them; 0: one by one.
TOKEN_USE_SECONDS = SIGHTING_SECONDS = 1
# Seconds for which a process collects commits before it wakes the streams (see kernel.changes.wakeups); 0: one by one.
WAKEUP_SECONDS = 0.05
# Whether a start runs a worker (see kernel.jobs), and how often that runs the commands of HOUSEKEEPING; 0: cron does.
WORKER = env.flag("WORKER", default=True)
HOUSEKEEPING_MINUTES = env.integer("HOUSEKEEPING_MINUTES", 60, minimum=0)

# Whether a start creates the demo. Its token is then on the pages of the API, except with an https BASE_URL.
DEMO = env.flag("DEMO", default=True)

INSTALLED_APPS = [
    "kernel.admin.apps.SuperAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    # The templates of form fields.
    "django.forms",
    "rest_framework",
    "django_filters",
    "rest_framework_simplejwt.token_blacklist",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "account_area.sign_in.apps.AllauthAccountConfig",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "kernel.writes",
    "kernel.changes",
    "kernel.jobs.apps.EngineConfig",
    "kernel.jobs",
    "runtime",
    "messaging",
    "agents",
    "reactions",
    "embeds",
    "mails",
    "moving",
    "oauth",
    "account_area",
    "desk",
]

MIDDLEWARE = [
    # The first, so that every response and every log line has the id.
    "kernel.api.middleware.RequestIdMiddleware",
    "kernel.api.middleware.ProblemMiddleware",
    # Requests of the API take the short way below; those after it are of pages.
    "kernel.api.chain.ApiMiddleware",
    "kernel.api.middleware.ContentSecurityPolicyMiddleware",
    "kernel.api.html_errors.HtmlErrorsMiddleware",
    "kernel.api.cors.CorsMiddleware",
    "kernel.api.middleware.EntryMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # Before all that may refuse a request in `process_view`.
    "kernel.api.middleware.OperationNameMiddleware",
    # Before CsrfViewMiddleware, whose 403 would come first; `kernel.writes.checks` verifies the order.
    "agents.authentication.PageTokenMiddleware",
    "kernel.pages.middleware.PageSessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "kernel.pages.middleware.PageAuthenticationMiddleware",
    "kernel.api.middleware.UploadMiddleware",
    "kernel.pages.middleware.PageMessageMiddleware",
    "account_area.sign_in.middleware.SignInMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
# Requests of clients to the API pass these. Each calls the next one in `__call__`; `process_view` is not called.
API_MIDDLEWARE = [
    "kernel.api.cors.CorsMiddleware",
    "kernel.api.middleware.EntryMiddleware",
    "django.middleware.security.SecurityMiddleware",
]
# Those requests pass these too, and so do the requests that operations send to one another.
OPERATION_MIDDLEWARE = [
    "agents.authentication.AgentTokenMiddleware",
    "kernel.api.authentication.ScopeMiddleware",
    "kernel.writes.middleware.IdempotencyMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
# Clients drop the Authorization header when they follow a redirect to the path with a slash.
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "account_area.navigation.navigation",
            ],
            "libraries": {"admin_formatting": "kernel.admin.templatetags.admin_formatting"},
        },
    },
]

# Django REST framework, the size of bodies, uploads and the OpenAPI document.
REST_FRAMEWORK = {
    "EXCEPTION_HANDLER": "kernel.api.exception_handler.exception_handler",
    # ScopeMiddleware parses bodies.
    "DEFAULT_PARSER_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_AUTHENTICATION_CLASSES": ["kernel.api.authentication.CredentialAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["kernel.api.authentication.OperationPermission"],
    "DEFAULT_PAGINATION_CLASS": "kernel.api.pagination.KeysetPagination",
    "DEFAULT_FILTER_BACKENDS": ["kernel.api.filters.FilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "kernel.api.openapi.schema.OperationSchema",
    "UNAUTHENTICATED_USER": None,
}
# EntryMiddleware enforces the size on every path, and UploadMiddleware on those of UPLOADS. Without a handler Django
# discards files: those of UPLOADS get one there.
DATA_UPLOAD_MAX_MEMORY_SIZE = BODY_MAX
FILE_UPLOAD_HANDLERS: list[str] = []

SPECTACULAR_SETTINGS = {"VERSION": VERSION, **metadata.SPECTACULAR_SETTINGS}
API_LICENSE, API_LICENSE_URL = env.text("API_LICENSE"), env.text("API_LICENSE_URL")
API_CONTACT = env.contact("API_CONTACT")

# HTTPS, cookies, CSRF and frames.
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

# Database. manage.py sets STATEMENT_TIMEOUT=0 for most commands: the limit, in milliseconds, is for requests.
STATEMENT_TIMEOUT = env.integer("STATEMENT_TIMEOUT", 5000)
DATABASES = deployment.databases(postgres.embedded(DATA_DIR).url, statement_timeout=STATEMENT_TIMEOUT)
if env.text("READ_DATABASE_URL"):
    DATABASE_ROUTERS = ["kernel.database.standbys.StandbyRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.text("REDIS_URL")
CACHES = caches(REDIS_URL)

# The response cache of each worker: its size, and the maximum age of a response (see kernel.cache.versions).
# Release 1.0 calls the variable KEPT_ANSWER_MEGABYTES, which this release accepts.
RESPONSE_CACHE_BYTES = env.integer("RESPONSE_CACHE_MEGABYTES", env.integer("KEPT_ANSWER_MEGABYTES", 32)) * 1024 * 1024
RESPONSE_CACHE_SECONDS = 2.0 if REDIS_URL else 5.0

# People.
AUTH_USER_MODEL = "messaging.Account"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/account/sign-in/"

# Sign-up, sign-in and sessions, by django-allauth. Its forms and pages are in `account_area.sign_in`; services of
# `messaging` check handles, passwords and codes.
DAY = 24 * 3600

ADMIN_MFA = env.flag("ADMIN_MFA", default=False)  # whether super admins need a second factor

SESSION_ENGINE = "kernel.pages.sessions"
# The row of a session ends, at the latest, so long after its last use (see account_area.sign_in.sessions).
SESSION_COOKIE_AGE = 14 * DAY
# A link to a new password, in seconds.
PASSWORD_RESET_TIMEOUT = 3600

LOGIN_REDIRECT_URL = "/account/"
LOGOUT_REDIRECT_URL = "/"

ACCOUNT_ADAPTER = "account_area.sign_in.adapters.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = "handle"
ACCOUNT_USER_MODEL_EMAIL_FIELD = None
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
# A new address replaces the verified one when it is verified.
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_SESSION_REMEMBER = True
# How old the password or code may be that changes of address and second factors need (account_area.sign_in.recent).
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
# The soft throttles of `kernel.api.throttling` count instead, for all workers together.
ACCOUNT_RATE_LIMITS = False
MFA_RATE_LIMITS = False

MFA_ADAPTER = "account_area.sign_in.adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Community Messaging"
# One step of 30 seconds before and after.
MFA_TOTP_TOLERANCE = 1
MFA_RECOVERY_CODE_COUNT = 10
# The address of a person is optional.
MFA_ALLOW_UNVERIFIED_EMAIL = True

SOCIALACCOUNT_ADAPTER = "account_area.sign_in.adapters.ProviderAdapter"
# A person of a provider chooses a handle. Nobody is found by an address: the provider may not have verified it.
SOCIALACCOUNT_AUTO_SIGNUP = False
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
SOCIALACCOUNT_EMAIL_REQUIRED = False
SOCIALACCOUNT_QUERY_EMAIL = False
SOCIALACCOUNT_LOGIN_ON_GET = False
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_REQUESTS_TIMEOUT = 10

SOCIALACCOUNT_PROVIDERS = derived.openid_connect(
    issuer=env.text("OIDC_ISSUER"),
    client_id=env.text("OIDC_CLIENT_ID"),
    secret=env.text("OIDC_CLIENT_SECRET"),
    name=env.text("OIDC_NAME", "OpenID Connect"),
)

# Mail, from EMAIL_URL. Without it, a service over http prints mails. One over https sends none: its output is stored in
# logs, and a mail may have a link that sets a new password.
_email_url = env.text("EMAIL_URL")
# Whether mails reach people, and whether they are printed. Pages say so if they do not.
MAIL_IS_SENT = bool(_email_url)
MAIL_IS_PRINTED = not MAIL_IS_SENT and not HTTPS
_email = derived.mail_settings(_email_url or (derived.MAIL_PRINTED if MAIL_IS_PRINTED else derived.MAIL_DROPPED))

EMAIL_BACKEND = _email["EMAIL_BACKEND"]
EMAIL_HOST = _email["EMAIL_HOST"] or "localhost"
EMAIL_PORT = _email["EMAIL_PORT"]
EMAIL_HOST_USER = _email["EMAIL_HOST_USER"] or ""
EMAIL_HOST_PASSWORD = _email["EMAIL_HOST_PASSWORD"] or ""
EMAIL_USE_TLS = _email.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = _email.get("EMAIL_USE_SSL", False)
EMAIL_FILE_PATH = _email["EMAIL_FILE_PATH"]
# Seconds that each step to a connection to the mail server may take.
EMAIL_TIMEOUT = 10
# The name with which this host greets the mail server (HELO); empty: that of the operating system.
EMAIL_HELO = env.greeting("EMAIL_HELO")
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "Community Messaging <no-reply@localhost>")

# Whether the service sends webhooks to other machines, and reads public keys of sites there.
SSO_JWKS = env.flag("SSO_JWKS", default=False)
WEBHOOKS = env.flag("WEBHOOKS", default=False)
WEBHOOKS_ALLOW_LOCAL = env.flag("WEBHOOKS_ALLOW_LOCAL", default=False)

if WEBHOOKS_ALLOW_LOCAL and HTTPS:
    raise ImproperlyConfigured(
        "WEBHOOKS_ALLOW_LOCAL is 1 and BASE_URL is https: webhooks to local addresses are for trying out."
    )

OAUTH = env.flag("OAUTH", default=HTTPS)
# Communities can prove hosts, for which the service asks the domain name system.
DOMAIN_CHECKS = env.flag("DOMAIN_CHECKS", default=False)
DOMAIN_RESOLVER = env.resolver("DOMAIN_RESOLVER")  # of the name server to ask; None: those of the system
# Seconds in which the record of a host has to be found.
DOMAIN_TIMEOUT = 5.0

# Metrics have a port of their own, or /metrics for these addresses and networks; without both, nothing is counted.
METRICS_PORT = env.integer("METRICS_PORT", 0, maximum=65535)
METRICS_ALLOWED = env.networks("METRICS_ALLOWED")
METRICS = bool(METRICS_PORT or METRICS_ALLOWED)
# A line for each request, of successful reads for each ACCESS_LOG_READS-th.
ACCESS_LOG = env.flag("ACCESS_LOG", default=False)
ACCESS_LOG_READS = env.integer("ACCESS_LOG_READS", 1, minimum=1, maximum=1_000_000)
# A line for each statement that takes so many milliseconds; 0: for none.
SLOW_STATEMENT_MS = env.integer("SLOW_STATEMENT_MS", 1000)

# Static files. WhiteNoise serves them from the source folders, without `collectstatic`.
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True

# Languages.
LANGUAGE_CODE = "en"
# The pages under /account/ and mails are translated; `account_area.languages` selects the language.
LANGUAGES = [
    ("ar", "العربية"),
    ("de", "Deutsch"),
    ("en", "English"),
    ("es", "Español"),
    ("fr", "Français"),
    ("ja", "日本語"),
    ("pt", "Português"),
    ("zh-hans", "中文"),
]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True
