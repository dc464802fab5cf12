"""Verification of webhooks."""
from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import WebhookVerificationError

TOLERANCE_SECONDS = 300


@dataclass(frozen=True)
class WebhookEvent:
    """A verified delivery. `id` is equal for all attempts at it: store it to ignore repeated deliveries."""

    id: str
    timestamp: int
    type: str
    data: dict[str, Any]


def verify_webhook(headers: Mapping[str, str], body: bytes, secret: str, now: float | None = None) -> WebhookEvent:
    """Verifies the signature of a delivery and returns its event.

    `body` is the body as received, `secret` the `signing_secret` of the registration, `now` the time in Unix seconds
    (default: the clock). Raises `WebhookVerificationError` if the signature does not match, or if the timestamp differs
    from the clock by more than 300 s. The signature does not cover the id.
    """
    values = {name.lower(): value for name, value in headers.items()}
    timestamp = values.get("x-webhook-timestamp", "")
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        raise WebhookVerificationError("no valid X-Webhook-Timestamp")
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    received = values.get("x-webhook-signature", "").encode(errors="replace")
    if not hmac.compare_digest(f"v1={digest}".encode(), received):
        raise WebhookVerificationError("the signature does not match")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        raise WebhookVerificationError("the timestamp is too old or in the future")
    try:
        event = json.loads(body)
        return WebhookEvent(values["x-webhook-id"], int(timestamp), event["type"], event["data"])
    except (ValueError, KeyError, TypeError):
        raise WebhookVerificationError("the body is not an event, or X-Webhook-Id is absent") from None
