"""The settings of Django REST framework, of the size of bodies, of uploads and of the OpenAPI document."""

from config import env
from config.version import VERSION
from kernel.api.openapi import metadata
from kernel.api.strict_json import BODY_MAX

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
