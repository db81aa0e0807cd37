"""Django settings: one flat file. What differs between places comes from the environment (see docs/operations.md)."""

import hashlib
import hmac
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from config import env, secrets
from config.api.openapi import metadata
from config.api.strict_json import BODY_MAX
from config.database import urls
from config.logging import LOGGING
from config.runtime import bind_address, postgres

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env.folder("DATA_DIR", BASE_DIR / ".data")
DEBUG = env.flag("DEBUG", default=False)

# Secrets. A previous value is still accepted while a rotation is under way.
SECRET_KEY = secrets.read("SECRET_KEY", data=DATA_DIR, debug=DEBUG)
ROOT_KEY = secrets.read("ROOT_KEY", data=DATA_DIR, debug=DEBUG)
ROOT_KEY_PREVIOUS = secrets.read_previous("ROOT_KEY", data=DATA_DIR)
TOKEN_PEPPER = secrets.read("TOKEN_PEPPER", data=DATA_DIR, debug=DEBUG)
TOKEN_PEPPER_PREVIOUS = secrets.read_previous("TOKEN_PEPPER", data=DATA_DIR)

# Addresses.
PORT = env.integer("PORT", 8000, minimum=1, maximum=65535)
BASE_URL = env.origin("BASE_URL", bind_address.origin(PORT))
APP_URL = env.origin("APP_URL", BASE_URL)
ALLOWED_HOSTS = env.words(
    "ALLOWED_HOSTS",
    sorted(
        {
            "localhost",
            "127.0.0.1",
            "[::1]",
            *(bind_address.in_url(urlsplit(url).hostname or "") for url in (BASE_URL, APP_URL)),
        }
    ),
)
# Peers whose X-Forwarded-For counts: addresses or networks.
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")
HTTPS = BASE_URL.startswith("https://")

# Behaviour.
REGISTRATION_OPEN = env.flag("REGISTRATION_OPEN", default=True)
IDEMPOTENCY_MISMATCH = env.choice("IDEMPOTENCY_MISMATCH", "replay", ("replay", "reject"))
# Dotted paths to the rules that a message must pass before it is stored.
CONTENT_RULES = ["messaging.content_rules.CommunityRule", "embeds.content_rules.EmbedRule"]
# Dotted paths to what deletes old rows, `(now, dry_run) -> {what: count}`, for the command `prune`.
PRUNERS = [
    "config.writes.pruning.prune",
    "messaging.services.pages.prune",
    "messaging.services.sessions.prune",
    "agents.denied_calls.prune",
    "embeds.analytics.retention.prune",
]
# Dotted paths to what fills the demo, in order; each takes a messaging.demo.DemoContext.
DEMO_PARTS = ["agents.demo.agents", "messaging.demo.conversation", "reactions.demo.reactions", "embeds.demo.embed"]
# For how long a process gathers notes of which agent tokens were used, to write them together; 0: each at once.
TOKEN_USE_SECONDS = 1
HOURLY_LIMITS = {"post": 30, "reply": 30, "quote": 30, "react": 120}
# Name of a soft throttle: calls, seconds.
SOFT_THROTTLES = {
    "person": (env.integer("THROTTLE_PERSON_PER_HOUR", 300), 3600),
    "ingest": (env.integer("THROTTLE_INGEST_PER_MINUTE", 120), 60),
    "normalize_url": (env.integer("THROTTLE_NORMALIZE_URL_PER_MINUTE", 120), 60),
    "register": (env.integer("THROTTLE_REGISTER_PER_MINUTE", 10), 60),
    "sign_in": (env.integer("THROTTLE_SIGN_IN_PER_MINUTE", 10), 60),
    "session": (env.integer("THROTTLE_SESSION_PER_MINUTE", 120), 60),
    # Per client network and host; only reads that no worker answers from its memory.
    "read": (env.integer("THROTTLE_READ_PER_MINUTE", 6000), 60),
    "agent_refused": (env.integer("THROTTLE_AGENT_REFUSED_PER_MINUTE", 600), 60),
    # Refused calls of an agent that are counted for the super admins to see.
    "refusal_note": (600, 60),
}

INSTALLED_APPS = [
    "config.admin.apps.SuperAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "rest_framework_simplejwt.token_blacklist",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "config.writes",
    "config.runtime",
    "messaging",
    "agents",
    "reactions",
    "embeds",
]

MIDDLEWARE = [
    "config.api.middleware.ContentSecurityPolicyMiddleware",
    "config.api.cors.CorsMiddleware",
    "config.api.middleware.EntryMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # Before the CSRF check, which would answer first. Their order is checked (config.writes.checks).
    "agents.middleware.AgentTokenMiddleware",
    "config.api.scopes.ScopeMiddleware",
    "config.writes.middleware.IdempotencyMiddleware",
    "config.admin.middleware.AdminSessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.admin.middleware.AdminAuthenticationMiddleware",
    "config.admin.middleware.AdminMessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
# A redirect to the same path with a slash would drop the Authorization header.
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
            ],
            "libraries": {"admin_formatting": "config.admin.templatetags.admin_formatting"},
        },
    },
]

# Database. Commands take their time (manage.py sets STATEMENT_TIMEOUT=0); a request does not.
STATEMENT_TIMEOUT = env.integer("STATEMENT_TIMEOUT", 5000)
DATABASES = {
    "default": {
        "ENGINE": "config.database.backend",
        **urls.connection_settings(env.text("DATABASE_URL") or postgres.embedded(DATA_DIR).url),
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "ATOMIC_REQUESTS": False,
    }
}
DATABASES["default"]["OPTIONS"] |= {
    "application_name": "community-messaging",
    "connect_timeout": 3,
    # A written statement is prepared on the server when a connection runs it the second time. Its plan serves any
    # values: PostgreSQL would plan it anew, each time, for the few pages that hold much more than others.
    "prepare_threshold": 1,
    "options": urls.session_options(
        default_transaction_isolation="read committed",
        plan_cache_mode="force_generic_plan",
        statement_timeout=STATEMENT_TIMEOUT,
        lock_timeout=2000,
        idle_in_transaction_session_timeout=2 * STATEMENT_TIMEOUT,
        client_connection_check_interval=2000,
    ),
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Redis: soft throttles and versions of cache tags, which may be lost. Without Redis, Django's cache is not used.
REDIS_URL = env.text("REDIS_URL")
if REDIS_URL:
    CACHES = {
        "default": {
            "BACKEND": "django_redis.cache.RedisCache",
            "LOCATION": REDIS_URL,
            "KEY_PREFIX": "cm",
            # Exceptions are not ignored here: a circuit breaker handles them.
            "OPTIONS": {"SOCKET_CONNECT_TIMEOUT": 0.1, "SOCKET_TIMEOUT": 0.1},
        }
    }

# The response cache of each worker: its size, and the maximum age of a response (see config.cache.versions).
# KEPT_ANSWER_MEGABYTES, the name in release 1.0, is accepted for one release more.
RESPONSE_CACHE_BYTES = env.integer("RESPONSE_CACHE_MEGABYTES", env.integer("KEPT_ANSWER_MEGABYTES", 32)) * 1024 * 1024
RESPONSE_CACHE_SECONDS = 2.0 if REDIS_URL else 5.0

# People.
AUTH_USER_MODEL = "messaging.Account"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/admin/login/"

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
# EntryMiddleware holds every path to it. No form takes a file: without a handler none is written anywhere.
DATA_UPLOAD_MAX_MEMORY_SIZE = BODY_MAX
FILE_UPLOAD_HANDLERS: list[str] = []

SIMPLE_JWT = {
    "ALGORITHM": "HS256",
    "SIGNING_KEY": hmac.digest(SECRET_KEY.encode(), b"json web tokens", hashlib.sha256).hex(),
    "ISSUER": "community-messaging",
    "AUDIENCE": "community-messaging",
    "ACCESS_TOKEN_LIFETIME": timedelta(minutes=15),
    "REFRESH_TOKEN_LIFETIME": timedelta(days=14),
    "ROTATE_REFRESH_TOKENS": False,
    "BLACKLIST_AFTER_ROTATION": False,
    # The clocks of several hosts differ.
    "LEEWAY": timedelta(seconds=10),
    "USER_ID_FIELD": "id",
    "USER_ID_CLAIM": "sub",
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Community Messaging, Agent Access and Web Embed Service",
    "DESCRIPTION": metadata.TEXT,
    "TAGS": metadata.TAGS,
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.1",
    # `make check` validates the description; once is enough.
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "POSTPROCESSING_HOOKS": ["config.api.openapi.schema.add_security_schemes"],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    # No verdict on the description from a validator on the internet.
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# Static files are served from where they lie; there is no collecting step.
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True

# Transport. Where the service is reached over https, nothing works without it.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SESSION_ENGINE = "config.admin.sessions"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
CSRF_TRUSTED_ORIGINS = [BASE_URL]
CSRF_FAILURE_VIEW = "config.api.exception_handler.csrf_failure"
X_FRAME_OPTIONS = "DENY"
# HSTS for subdomains and browsers' preload lists are for the owner of the whole domain to decide.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True
