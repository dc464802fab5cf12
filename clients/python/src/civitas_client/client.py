"""The client: what the generated functions take as `client`, with jobs and pages."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType, TracebackType
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload
from uuid import UUID

import httpx

from .errors import CivitasError, JobFailed, JobTimeout, RateLimited, ServiceUnavailable, read_retry_after
from .generated.api.jobs import get_job
from .generated.models import APIJob
from .session import ResponseCache, Session

BASE_PATH = "/api/rest_full/v0.3"
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 0.05, 5.0

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
PageT = TypeVar("PageT", bound="Page[Any]")


class PageMeta(Protocol):
    """The position of a page in its list."""

    @property
    def has_more(self) -> bool:
        """Whether another page follows."""


class Page(Protocol[T_co]):
    """A page of a list."""

    @property
    def data(self) -> Sequence[T_co]:
        """The records."""

    @property
    def meta(self) -> PageMeta:
        """The position."""


class ListOperation(Protocol[P, T_co]):
    """The generated module of a list: what it takes, and its pages."""

    def _get_kwargs(self, *args: P.args, **parameters: P.kwargs) -> dict[str, Any]: ...

    def _parse_response(self, *, client: Any, response: httpx.Response) -> T_co | None: ...


class HasJobId(Protocol):
    """The answer of an asynchronous endpoint."""

    @property
    def job_id(self) -> UUID | str:
        """The id of the job."""


class Client:
    """A client of one organization, for an API client or one of its users.

    `base_url` is the address of the organization, `https://city.example`; `scopes` is a list, or a text with spaces. Without `username` the client acts for itself;
    with `username` it acts for this user (impersonation), with `password` the user signs in. `meta` is that of
    impersonation: `{"register_on_missing": True}`. `cache_bytes` is the size of the cache of conditional GET; 0: no cache.
    Further options are those of `httpx.Client`. Threads may share a client.
    """

    raise_on_unexpected_status = True

    def __init__(
        self,
        base_url: str,
        client_id: str,
        client_secret: str,
        scopes: Iterable[str] | str = ("public",),
        username: str | None = None,
        *,
        password: str | None = None,
        meta: Mapping[str, Any] | None = None,
        cache_bytes: int = 8 * 1024 * 1024,
        timeout: float = 30.0,
        **options: Any,
    ) -> None:
        scope = scopes if isinstance(scopes, str) else " ".join(scopes)
        grant: dict[str, Any] = {"client_id": client_id, "client_secret": client_secret, "scope": scope}
        if username is None:
            grant["grant_type"] = "client_credentials"
        elif password is not None:
            grant |= {"grant_type": "password", "auth_type": "login", "username": username, "password": password}
        else:
            grant |= {"grant_type": "password", "auth_type": "impersonate", "username": username}
            grant |= {"meta": dict(meta)} if meta else {}
        address = base_url.rstrip("/").removesuffix(BASE_PATH) + BASE_PATH
        self._session = Session(address, grant, ResponseCache(cache_bytes), timeout=timeout, **options)

    def get_httpx_client(self) -> httpx.Client:
        """The session. Its requests have a token, and their paths are relative to the interface."""
        return self._session

    def access_token(self) -> str:
        """A valid token, for requests that another library sends."""
        return self._session.access_token()

    def close(self) -> None:
        """Closes the connections."""
        self._session.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def wait(self, job: HasJobId | UUID | str, timeout: float = 60.0) -> APIJob:
        """Waits until a job has completed, and returns it. Its `data` is the answer of the synchronous endpoint.

        `job` is the answer of an asynchronous endpoint, or the id of a job. Polls with increasing delays, or as
        `Retry-After` says. Raises `JobFailed`, or `JobTimeout` after `timeout` seconds.
        """
        identifier = job if isinstance(job, (UUID, str)) else job.job_id
        end, delay = time.monotonic() + timeout, FIRST_DELAY_SECONDS
        while True:
            pause = None
            try:
                response = get_job.sync_detailed(UUID(str(identifier)), client=self)
                found = response.parsed
                if found is not None and found.status == "completed":
                    return found
                if found is not None and found.status == "failed":
                    raise JobFailed(found)
                pause = read_retry_after(response.headers)
            except (RateLimited, ServiceUnavailable) as error:
                pause = error.retry_after
            pause = delay if pause is None else max(pause, FIRST_DELAY_SECONDS)
            if time.monotonic() + pause > end:
                raise JobTimeout(f"job {identifier} did not end within {timeout} s")
            time.sleep(pause)
            delay = min(delay * 1.6, LONGEST_DELAY_SECONDS)

    @overload
    def pages(self, operation: ListOperation[P, PageT], *args: P.args, **parameters: P.kwargs) -> Iterator[PageT]: ...

    @overload
    def pages(self, operation: Callable[..., PageT], *args: Any, **parameters: Any) -> Iterator[PageT]: ...

    def pages(self, operation: Any, *args: Any, **parameters: Any) -> Iterator[Any]:
        """All pages of a list: `client.pages(list_proposals, component_id=3, filter_title_cont="bench")`.

        `operation` is the module of the operation, whose parameters are checked, or a function such as its `sync`.
        `per_page` is 100 unless given. Each page has the parameters of the next one, in the header `Link`, or else in
        `meta.next`. A list in random order has no end.
        """
        calls = _ListCalls(self._session)
        parameters = {"page": 1, "per_page": 100, **parameters}
        while True:
            page = _function(operation)(*args, client=calls, **parameters)
            yield page
            if not page.meta.has_more:
                return
            calls.follow(getattr(page.meta, "next_", None))
            parameters["page"] += 1

    @overload
    def items(self, operation: ListOperation[P, Page[T]], *args: P.args, **parameters: P.kwargs) -> Iterator[T]: ...

    @overload
    def items(self, operation: Callable[..., Page[T]], *args: Any, **parameters: Any) -> Iterator[T]: ...

    def items(self, operation: Any, *args: Any, **parameters: Any) -> Iterator[Any]:
        """All records of a list, as `pages`."""
        for page in self.pages(operation, *args, **parameters):
            yield from page.data

    def total(self, operation: ListOperation[P, Page[Any]], *args: P.args, **parameters: P.kwargs) -> int:
        """The number of all records of a list, with the parameters of `pages`. Sends `Prefer: count=exact`."""
        calls = _ListCalls(self._session, {"Prefer": "count=exact"})
        _function(operation)(*args, client=calls, **{**parameters, "per_page": 1})
        total = None if calls.response is None else calls.response.headers.get("Total")
        if total is None:
            raise CivitasError("the answer has no total")
        return int(total)


def _function(operation: Any) -> Callable[..., Any]:
    function: Callable[..., Any] = operation.sync if isinstance(operation, ModuleType) else operation
    return function


class _ListCalls:
    """What the functions of a list take as `client`. Sends more headers, and requests the page that an answer names."""

    raise_on_unexpected_status = True

    def __init__(self, session: Session, headers: Mapping[str, str] | None = None) -> None:
        self._session = session
        self._headers = headers or {}
        self._query: httpx.QueryParams | None = None
        self.response: httpx.Response | None = None

    def get_httpx_client(self) -> httpx.Client:
        return cast(httpx.Client, self)

    def request(self, **options: Any) -> httpx.Response:
        if self._query is not None:
            options["params"] = self._query
        options["headers"] = {**options.get("headers", {}), **self._headers}
        self.response = self._session.request(**options)
        return self.response

    def follow(self, address: str | None) -> None:
        """The next request is that of the next page: of the header `Link`, or else of `address`. Its path stays the same,
        so that no address leads to another server."""
        links = {} if self.response is None else self.response.links
        address = links.get("next", {}).get("url", address)
        self._query = httpx.URL(address).params if address else None
