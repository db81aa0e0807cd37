"""Client of Community Messaging: posts, replies, quotes and reactions on any web page."""

from community_messaging.client import AsyncClient, Client
from community_messaging.credentials import Credential
from community_messaging.errors import ServiceError
from community_messaging.retries import RetryPolicy

__version__ = "1.0.0"
__all__ = ["AsyncClient", "Client", "Credential", "RetryPolicy", "ServiceError"]
