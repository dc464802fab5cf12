"""Errors: answers of the interface that are not a success, failed jobs, rejected webhooks."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from .generated.models import APIJob


class CivitasError(Exception):
    """The base of all errors of this package."""


@dataclass(frozen=True)
class ErrorDetail:
    """An invalid member of a request. `code` and `field` are for programs, `description` for people."""

    code: str
    field: str
    description: str


def read_details(values: Any) -> tuple[ErrorDetail, ...]:
    """The entries of `error_details`. Entries of another shape are left out."""
    if not isinstance(values, Iterable):
        return ()
    entries = (value for value in values if isinstance(value, Mapping))
    return tuple(ErrorDetail(*(str(entry.get(name, "")) for name in ("code", "field", "description"))) for entry in entries)


class ApiError(CivitasError):
    """An answer that is not a success. The subclass depends on the status."""

    def __init__(self, response: httpx.Response) -> None:
        body = _read_object(response)
        self.response = response
        self.status = response.status_code
        self.error = str(body.get("error") or f"{self.status}: {response.reason_phrase}")
        self.description = str(body.get("error_description") or "")
        self.details = read_details(body.get("error_details"))
        self.retry_after = read_retry_after(response.headers)
        super().__init__(f"{self.error}: {self.description}" if self.description else self.error)

    @property
    def method(self) -> str:
        """The method of the request."""
        return self.response.request.method

    @property
    def url(self) -> str:
        """The address of the request."""
        return str(self.response.request.url)


class BadRequest(ApiError):
    """400: a value is invalid or a rule is violated."""


class Unauthorized(ApiError):
    """401: no valid token, or the client could not be authenticated."""


class Forbidden(ApiError):
    """403: a scope or an ability is missing."""


class NotFound(ApiError):
    """404: no such record, or not visible to the caller."""


class Conflict(ApiError):
    """409: another request is in progress."""


class Unprocessable(ApiError):
    """422: well-formed but not allowed."""


class RateLimited(ApiError):
    """429: too many requests. `retry_after` is the delay in seconds."""


class NotEnabled(ApiError):
    """501: the interface, or this part of it, is switched off for the organization."""


class ServiceUnavailable(ApiError):
    """503: overloaded, nothing was stored. `retry_after` is the delay in seconds."""


_CLASSES: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    422: Unprocessable,
    429: RateLimited,
    501: NotEnabled,
    503: ServiceUnavailable,
}


def api_error(response: httpx.Response) -> ApiError:
    """The error of an answer whose body has been read."""
    return _CLASSES.get(response.status_code, ApiError)(response)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """The header `Retry-After` in seconds. None if it is absent or not a number."""
    value = headers.get("Retry-After", "")
    return float(value) if value.isascii() and value.isdigit() else None


def _read_object(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


class JobFailed(CivitasError):
    """The job failed. `error_class` is a stable name, `message` the error text of the synchronous endpoint."""

    def __init__(self, job: APIJob) -> None:
        self.job = job
        self.error_class = job.error_class
        self.message = job.error_message
        details = job.error_details
        self.details = read_details([detail.to_dict() for detail in details] if details else ())
        super().__init__(f"job {job.id} failed: {self.error_class}: {self.message}")


class JobTimeout(CivitasError, TimeoutError):
    """The job did not end in time. It may still end later."""


class WebhookVerificationError(CivitasError, ValueError):
    """The request is not a valid delivery. Answer 400 or 401 and ignore its body."""
