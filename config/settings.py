"""Django settings. The environment sets what differs between deployments (see docs/operations.md)."""

from pathlib import Path

from config import env, secrets
from config.address_settings import *
from config.domain_settings import *
from config.extension_points import *
from config.logging import LOGGING
from config.mail_settings import *
from config.sign_in_settings import *
from config.transport_settings import *
from config.webhook_settings import *
from kernel.api.api_settings import *
from kernel.api.jwt_settings import jwt_settings
from kernel.api.throttle_rates import ATTEMPT_LIMITS, SOFT_THROTTLES
from kernel.cache.django_cache import caches
from kernel.changes.stream_limits import STREAM_HEARTBEAT_SECONDS, STREAMS_PER_ADDRESS, STREAMS_PER_TOKEN
from kernel.database import deployment
from kernel.metrics.metrics_settings import *
from runtime import postgres

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env.folder("DATA_DIR", BASE_DIR / ".data")
DEBUG = env.flag("DEBUG", default=False)

# Secrets. During a rotation the previous value is accepted as well.
SECRET_KEY = secrets.read("SECRET_KEY", data=DATA_DIR, debug=DEBUG)
ROOT_KEY = secrets.read("ROOT_KEY", data=DATA_DIR, debug=DEBUG)
ROOT_KEY_PREVIOUS = secrets.read_previous("ROOT_KEY", data=DATA_DIR)
TOKEN_PEPPER = secrets.read("TOKEN_PEPPER", data=DATA_DIR, debug=DEBUG)
TOKEN_PEPPER_PREVIOUS = secrets.read_previous("TOKEN_PEPPER", data=DATA_DIR)

# Its signing key is derived from SECRET_KEY.
SIMPLE_JWT = jwt_settings(SECRET_KEY)

# What people may do.
REGISTRATION_OPEN = env.flag("REGISTRATION_OPEN", default=True)
# Whether people may create communities; super admins always may.
COMMUNITY_CREATION = env.choice("COMMUNITY_CREATION", "open", ("open", "closed"))
EDIT_MINUTES = env.integer("EDIT_MINUTES", 15, minimum=0)  # after the post was written
# Of a file that is imported in the account area, in bytes.
IMPORT_UPLOAD_MAX = env.integer("IMPORT_UPLOAD_MAX_MB", 200, minimum=0, maximum=4_000) * 1_000_000
# The bytes that all such files may have together, until they are imported or deleted.
IMPORT_DISK_MAX = env.integer("IMPORT_DISK_MAX_MB", 2_000, minimum=0) * 1_000_000

# What an agent may do in an hour.
HOURLY_LIMITS = {"post": 30, "reply": 30, "quote": 30, "react": 120}

# What a write gets whose Idempotency-Key belongs to another write: the first response, or a refusal.
IDEMPOTENCY_MISMATCH = env.choice("IDEMPOTENCY_MISMATCH", "replay", ("replay", "reject"))

# Work beside the requests.
# Seconds for which a process collects uses of agent tokens, or visits of widgets, before it writes them in one
# statement; 0: one by one.
TOKEN_USE_SECONDS = 1
SIGHTING_SECONDS = 1
# Seconds for which a process collects commits before it wakes the streams (see kernel.changes.wakeups); 0: one by one.
WAKEUP_SECONDS = 0.05
# How often the housekeeping of `runtime.scheduler` runs; 0: cron runs it.
HOUSEKEEPING_MINUTES = env.integer("HOUSEKEEPING_MINUTES", 60)
# Whether exports, records and steps of imports start the process that carries them out (see kernel.jobs.spawning).
# Without it, they wait for the next run of their command, by the scheduler or by cron.
PERSON_JOBS = env.flag("PERSON_JOBS", default=True)

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
    "runtime",
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
    "kernel.api.middleware.RequestIdMiddleware",
    "kernel.api.middleware.ContentSecurityPolicyMiddleware",
    "kernel.api.html_errors.HtmlErrorsMiddleware",
    "kernel.api.cors.CorsMiddleware",
    "kernel.api.middleware.EntryMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # Before all that may refuse a request in `process_view`.
    "kernel.api.middleware.OperationNameMiddleware",
    # Before CsrfViewMiddleware, whose 403 would come first; `kernel.writes.checks` verifies the order.
    # IdempotencyMiddleware calls the view of a write itself: `process_view` of later middlewares does not run for it.
    "kernel.api.subrequests.SubrequestMiddleware",
    "agents.middleware.AgentTokenMiddleware",
    "kernel.api.scopes.ScopeMiddleware",
    "kernel.writes.middleware.IdempotencyMiddleware",
    "kernel.pages.middleware.PageSessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "kernel.pages.middleware.PageAuthenticationMiddleware",
    "kernel.api.middleware.UploadMiddleware",
    "kernel.pages.middleware.PageMessageMiddleware",
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
            "libraries": {"admin_formatting": "kernel.admin.templatetags.admin_formatting"},
        },
    },
]

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
