"""Django settings. The environment sets what differs between deployments (see docs/operations.md)."""

from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config import env, secrets
from config.api.jwt_settings import jwt_settings
from config.api.openapi import metadata
from config.api.strict_json import BODY_MAX
from config.api.throttle_rates import SOFT_THROTTLES
from config.cache.django_cache import caches
from config.changes.stream_limits import STREAM_HEARTBEAT_SECONDS, STREAMS_PER_ADDRESS, STREAMS_PER_TOKEN
from config.database import deployment
from config.extension_points import (
    ADMIN_INDEX,
    ADMIN_PANELS,
    ADMIN_URLS,
    CONTENT_RULES,
    CREDENTIAL_CHECKS,
    DEMO_PARTS,
    EMBED_CHECKS,
    MAIL_ROUNDS,
    MOVED_PAGES,
    PERSON_ERASERS,
    PERSON_EXPORTERS,
    PERSON_STOPPERS,
    PRUNERS,
    RECORD_EXPORTERS,
    UPLOADS,
    WEBHOOK_TARGETS,
)
from config.logging import LOGGING
from config.mail_settings import (
    DEFAULT_FROM_EMAIL,
    EMAIL_BACKEND,
    EMAIL_FILE_PATH,
    EMAIL_HOST,
    EMAIL_HOST_PASSWORD,
    EMAIL_HOST_USER,
    EMAIL_PORT,
    EMAIL_TIMEOUT,
    EMAIL_USE_SSL,
    EMAIL_USE_TLS,
    MAIL_IS_PRINTED,
    MAIL_IS_SENT,
)
from config.metrics.metrics_settings import ACCESS_LOG, METRICS, METRICS_ALLOWED, METRICS_PORT, SLOW_STATEMENT_MS
from config.runtime import bind_address, postgres
from config.sign_in_settings import *  # noqa: F403  about thirty names of django-allauth
from config.version import VERSION

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env.folder("DATA_DIR", BASE_DIR / ".data")
DEBUG = env.flag("DEBUG", default=False)

# Secrets. During a rotation the previous value is accepted as well.
SECRET_KEY = secrets.read("SECRET_KEY", data=DATA_DIR, debug=DEBUG)
ROOT_KEY = secrets.read("ROOT_KEY", data=DATA_DIR, debug=DEBUG)
ROOT_KEY_PREVIOUS = secrets.read_previous("ROOT_KEY", data=DATA_DIR)
TOKEN_PEPPER = secrets.read("TOKEN_PEPPER", data=DATA_DIR, debug=DEBUG)
TOKEN_PEPPER_PREVIOUS = secrets.read_previous("TOKEN_PEPPER", data=DATA_DIR)

# Addresses.
PORT = env.integer("PORT", 8000, minimum=1, maximum=65535)
BASE_URL = env.origin("BASE_URL", bind_address.origin(PORT))
APP_URL = env.origin("APP_URL", BASE_URL)
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", bind_address.local_hosts_and(BASE_URL, APP_URL))
LOCAL_HOST = bind_address.local_host()  # where the processes of this host reach one another
# Addresses or networks of the proxies whose X-Forwarded-For and X-Request-ID headers are trusted.
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")
HTTPS = BASE_URL.startswith("https://")
# Where people report vulnerabilities: an address such as mailto:security@example.com, for /.well-known/security.txt.
SECURITY_CONTACT = env.contact("SECURITY_CONTACT")
# Whether exports, records and steps of imports start the process that carries them out (see config.spawning). Without
# it, they wait for the next run of their command, by the scheduler or by cron.
PERSON_JOBS = env.flag("PERSON_JOBS", default=True)
# Of a file that is imported in the account area, in bytes.
IMPORT_UPLOAD_MAX = env.integer("IMPORT_UPLOAD_MAX_MB", 200, minimum=0, maximum=4_000) * 1_000_000
DEMO = env.flag("DEMO", default=True)  # of `make run`; its token is on the pages of the API then
API_LICENSE, API_LICENSE_URL = env.text("API_LICENSE"), env.text("API_LICENSE_URL")
API_CONTACT = env.contact("API_CONTACT")  # license and contact in the OpenAPI document

# Streams of changes. A process beside the workers serves them on STREAM_PORT; STREAM_URL is its public origin. With
# STREAMS=0 the service starts none, and STREAM_URL is that of a process which is started otherwise.
STREAMS = env.flag("STREAMS", default=True)
STREAM_PORT = bind_address.stream_port(PORT)
HAS_STREAMS = STREAMS or bool(env.text("STREAM_URL"))
STREAM_URL = env.origin("STREAM_URL", bind_address.stream_origin(PORT, BASE_URL)) if HAS_STREAMS else None

# Behaviour.
REGISTRATION_OPEN = env.flag("REGISTRATION_OPEN", default=True)
# Whether people may create communities; super admins always may.
COMMUNITY_CREATION = env.choice("COMMUNITY_CREATION", "open", ("open", "closed"))
EDIT_MINUTES = env.integer("EDIT_MINUTES", 15, minimum=0)  # after the post was written
IDEMPOTENCY_MISMATCH = env.choice("IDEMPOTENCY_MISMATCH", "replay", ("replay", "reject"))
# Seconds for which a process collects uses of agent tokens before it writes them in one statement; 0: one by one.
TOKEN_USE_SECONDS = 1
# Seconds for which a process collects visits of widgets before it writes them in one statement; 0: one by one.
SIGHTING_SECONDS = 1
# Seconds for which a process collects commits before it wakes the streams (see config.changes.wakeups); 0: one by one.
WAKEUP_SECONDS = 0.05
# Webhooks. Only with WEBHOOKS=1 the service calls other machines.
WEBHOOKS = env.flag("WEBHOOKS", default=False)
WEBHOOKS_ALLOW_LOCAL = env.flag("WEBHOOKS_ALLOW_LOCAL", default=False)
if WEBHOOKS_ALLOW_LOCAL and HTTPS:
    raise ImproperlyConfigured(
        "WEBHOOKS_ALLOW_LOCAL is 1 and BASE_URL is https: webhooks to local addresses are for trying out."
    )
# How often the housekeeping of `config.runtime.scheduler` runs; 0: cron runs it.
HOUSEKEEPING_MINUTES = env.integer("HOUSEKEEPING_MINUTES", 60)
HOURLY_LIMITS = {"post": 30, "reply": 30, "quote": 30, "react": 120}

INSTALLED_APPS = [
    "config.admin.apps.SuperAdminConfig",
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
    "config.writes",
    "config.changes",
    "config.runtime",
    "messaging",
    "agents",
    "reactions",
    "embeds",
    "mails",
    "moving",
    "account_area",
    "desk",
]

MIDDLEWARE = [
    # The first, so that every response and every log line has the id.
    "config.api.middleware.RequestIdMiddleware",
    "config.api.middleware.ContentSecurityPolicyMiddleware",
    "config.api.html_errors.HtmlErrorsMiddleware",
    "config.api.cors.CorsMiddleware",
    "config.api.middleware.EntryMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # Before all that may refuse a request in `process_view`.
    "config.api.middleware.OperationNameMiddleware",
    # Before CsrfViewMiddleware, whose 403 would come first; `config.writes.checks` verifies the order.
    # IdempotencyMiddleware calls the view of a write itself: `process_view` of later middlewares does not run for it.
    "config.api.subrequests.SubrequestMiddleware",
    "agents.middleware.AgentTokenMiddleware",
    "config.api.scopes.ScopeMiddleware",
    "config.writes.middleware.IdempotencyMiddleware",
    "config.pages.middleware.PageSessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.pages.middleware.PageAuthenticationMiddleware",
    "config.api.uploads.UploadMiddleware",
    "config.pages.middleware.PageMessageMiddleware",
    "account_area.sign_in.middleware.SignInMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
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
            "libraries": {"admin_formatting": "config.admin.templatetags.admin_formatting"},
        },
    },
]

# Database. manage.py sets STATEMENT_TIMEOUT=0 for most commands: the limit, in milliseconds, is for requests.
STATEMENT_TIMEOUT = env.integer("STATEMENT_TIMEOUT", 5000)
DATABASES = deployment.databases(postgres.embedded(DATA_DIR).url, statement_timeout=STATEMENT_TIMEOUT)
if env.text("READ_DATABASE_URL"):
    DATABASE_ROUTERS = ["config.database.routing.StandbyRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.text("REDIS_URL")
CACHES = caches(REDIS_URL)

# The response cache of each worker: its size, and the maximum age of a response (see config.cache.versions).
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

# API.
REST_FRAMEWORK = {
    "EXCEPTION_HANDLER": "config.api.exception_handler.exception_handler",
    # ScopeMiddleware parses bodies.
    "DEFAULT_PARSER_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_AUTHENTICATION_CLASSES": ["config.api.authentication.CredentialAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["config.api.permissions.OperationPermission"],
    "DEFAULT_PAGINATION_CLASS": "config.api.pagination.KeysetPagination",
    "DEFAULT_FILTER_BACKENDS": ["config.api.filters.FilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "config.api.openapi.schema.OperationSchema",
    "UNAUTHENTICATED_USER": None,
}
# EntryMiddleware enforces the size on every path, and UploadMiddleware on those of UPLOADS. Without a handler Django
# discards files: those of UPLOADS get one there.
DATA_UPLOAD_MAX_MEMORY_SIZE = BODY_MAX
FILE_UPLOAD_HANDLERS: list[str] = []

SIMPLE_JWT = jwt_settings(SECRET_KEY)
SPECTACULAR_SETTINGS = {"VERSION": VERSION, **metadata.SPECTACULAR_SETTINGS}

# Static files. WhiteNoise serves them from the source folders, without `collectstatic`.
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True

# Transport. If BASE_URL is https, every request over http is redirected.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SESSION_ENGINE = "config.pages.sessions"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
# With the prefix, browsers accept the cookies from this very host only: no subdomain can set them.
SESSION_COOKIE_NAME = "__Host-sessionid" if HTTPS else "sessionid"
CSRF_COOKIE_NAME = "__Host-csrftoken" if HTTPS else "csrftoken"
CSRF_TRUSTED_ORIGINS = [BASE_URL]
CSRF_FAILURE_VIEW = "config.api.exception_handler.csrf_failure"
X_FRAME_OPTIONS = "DENY"
# The owner of the domain decides about HSTS for subdomains and about browsers' preload lists.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

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
