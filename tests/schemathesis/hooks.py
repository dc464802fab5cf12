"""Hooks of schemathesis: the tokens of requests, and the decided exceptions (`exceptions.py`)."""
import os
import re
import uuid

import exceptions
import schemathesis


@schemathesis.auth(refresh_interval=None)
class Tokens:
    """A user token for the operations of a user (contract 12, "owner"), else a service token."""

    def get(self, case, context):
        schemes = {name for entry in context.operation.definition.raw.get("security", ()) for name in entry}
        return os.environ["CIVITAS_USER_TOKEN" if schemes == {"resourceOwnerFlowBearer"} else "CIVITAS_SERVICE_TOKEN"]

    def set(self, case, token, context):
        case.headers["Authorization"] = f"Bearer {token}"
        # A key of another request is refused (contract 01 §11c).
        if re.fullmatch("[!-~]{1,255}", case.headers.get("Idempotency-Key", "")):
            case.headers["Idempotency-Key"] = uuid.uuid4().hex


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Whether a failure is reported: not if an exception decides it."""
    return exceptions.deciding(failure, case, response) is None
