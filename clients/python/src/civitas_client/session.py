"""HTTP session: tokens, conditional GET, errors. All generated functions send their requests through it."""
from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from .errors import api_error

# A token is renewed this long before it expires, or after four fifths of its lifetime if that is later.
RENEWAL_MARGIN_SECONDS = 60.0
# The headers of a stored answer that do not apply to its decoded body.
_ENCODING_HEADERS = {"content-encoding", "content-length", "transfer-encoding"}


@dataclass(frozen=True)
class _CachedResponse:
    etag: str
    headers: list[tuple[str, str]]
    content: bytes

    def to_response(self, request: httpx.Request) -> httpx.Response:
        headers = [*self.headers, ("Cache-Status", "civitas-client; hit")]
        return httpx.Response(200, headers=headers, content=self.content, request=request)


class ResponseCache:
    """Answers with an `ETag`, by address, language and preference. The least recently used ones are removed beyond `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._entries: OrderedDict[tuple[str, ...], _CachedResponse] = OrderedDict()
        self._lock = threading.Lock()

    @staticmethod
    def _key(request: httpx.Request) -> tuple[str, ...]:
        return str(request.url), request.headers.get("Accept-Language", ""), request.headers.get("Prefer", "")

    def get(self, request: httpx.Request) -> _CachedResponse | None:
        """The stored answer to this request. None if the request is not a GET or has a condition of its own."""
        if request.method != "GET" or {"If-None-Match", "If-Modified-Since", "Range"} & _names(request.headers):
            return None
        with self._lock:
            entry = self._entries.get(self._key(request))
            if entry is not None:
                self._entries.move_to_end(self._key(request))
            return entry

    def insert(self, request: httpx.Request, response: httpx.Response) -> None:
        """Stores the answer if it has an `ETag`. An answer longer than an eighth of the cache is not stored."""
        etag = response.headers.get("ETag")
        content = response.content
        if request.method != "GET" or response.status_code != 200 or not etag or len(content) > self._max_bytes // 8:
            return
        headers = [item for item in response.headers.multi_items() if item[0].lower() not in _ENCODING_HEADERS]
        with self._lock:
            previous = self._entries.pop(self._key(request), None)
            self._bytes += len(content) - (len(previous.content) if previous else 0)
            self._entries[self._key(request)] = _CachedResponse(etag, headers, content)
            while self._bytes > self._max_bytes:
                self._bytes -= len(self._entries.popitem(last=False)[1].content)


def _names(headers: httpx.Headers) -> set[str]:
    return {name.title() for name in headers}


class Session(httpx.Client):
    """Adds a valid token to each request to the server, revalidates stored answers, and raises errors.

    The token is renewed before it expires, and once after a 401. It is not sent to other hosts.
    """

    def __init__(self, base_url: str, grant: Mapping[str, Any], cache: ResponseCache, **options: Any) -> None:
        super().__init__(base_url=base_url, **options)
        self._grant = dict(grant)
        self._cache = cache
        self._token: str | None = None
        self._renew_at = 0.0
        self._lock = threading.Lock()

    def send(self, request: httpx.Request, *, stream: bool = False, **options: Any) -> httpx.Response:
        """Sends a request. Raises `ApiError` for every answer that is not a success."""
        cached = None if stream else self._cache.get(request)
        if cached is not None:
            request.headers["If-None-Match"] = cached.etag
        response = self._send_authorized(request, stream=stream, **options)
        if cached is not None and response.status_code == 304:
            return cached.to_response(request)
        _raise_for_status(response)
        if not stream:
            self._cache.insert(request, response)
        return response

    def _send_authorized(self, request: httpx.Request, **options: Any) -> httpx.Response:
        if "Authorization" in request.headers or not self._is_own(request.url):
            return super().send(request, **options)
        token = self.access_token()
        request.headers["Authorization"] = f"Bearer {token}"
        response = super().send(request, **options)
        if response.status_code != 401:
            return response
        response.close()
        request.headers["Authorization"] = f"Bearer {self.access_token(rejected=token)}"
        return super().send(request, **options)

    def _is_own(self, url: httpx.URL) -> bool:
        own = self.base_url
        return (url.scheme, url.host, url.port) == (own.scheme, own.host, own.port)

    def access_token(self, rejected: str | None = None) -> str:
        """A valid token: the current one, or a new one if it expires soon or is the rejected one."""
        with self._lock:
            if self._token is None or self._token == rejected or time.monotonic() >= self._renew_at:
                self._token = self._request_token()
            return self._token

    def _request_token(self) -> str:
        begin = time.monotonic()
        response = super().send(self.build_request("POST", "/oauth/token", json=self._grant))
        _raise_for_status(response)
        answer = response.json()
        lifetime = float(answer["expires_in"])
        self._renew_at = begin + max(lifetime - RENEWAL_MARGIN_SECONDS, 0.8 * lifetime)
        return str(answer["access_token"])


def _raise_for_status(response: httpx.Response) -> None:
    if response.status_code >= 400 or response.status_code in (301, 308):
        response.read()
        response.close()
        raise api_error(response)
