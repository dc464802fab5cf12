"""Client of Civitas. The functions and models of all operations are in `civitas_client.generated`."""
from .client import Client
from .errors import (
    ApiError,
    BadRequest,
    CivitasError,
    Conflict,
    ErrorDetail,
    Forbidden,
    JobFailed,
    JobTimeout,
    NotEnabled,
    NotFound,
    RateLimited,
    ServiceUnavailable,
    Unauthorized,
    Unprocessable,
    WebhookVerificationError,
)
from .webhooks import WebhookEvent, verify_webhook

__all__ = [
    "ApiError",
    "BadRequest",
    "CivitasError",
    "Client",
    "Conflict",
    "ErrorDetail",
    "Forbidden",
    "JobFailed",
    "JobTimeout",
    "NotEnabled",
    "NotFound",
    "RateLimited",
    "ServiceUnavailable",
    "Unauthorized",
    "Unprocessable",
    "WebhookEvent",
    "WebhookVerificationError",
    "verify_webhook",
]
