"""The settings of Django REST framework, of the size of bodies, of uploads and of the OpenAPI document."""

from config import env
from config.api.openapi import metadata
from config.api.strict_json import BODY_MAX
from config.version import VERSION

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

SPECTACULAR_SETTINGS = {"VERSION": VERSION, **metadata.SPECTACULAR_SETTINGS}
API_LICENSE, API_LICENSE_URL = env.text("API_LICENSE"), env.text("API_LICENSE_URL")
API_CONTACT = env.contact("API_CONTACT")
