"""A deployment of Civitas for tests/decidim/run: its settings, commands, database, server, and requests to it."""
import contextlib
import html
import http.cookiejar
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import source

sys.path.insert(0, str(source.HERE.parent.parent / "clients"))
import server

BASE = "/api/rest_full/v0.3"
REQUEST_SECONDS = 120
# The longest time of one command.
COMMAND_SECONDS = 1800
CLIENT, SECRET = "tests-decidim", "tests-of-the-import-0123456789-abcdef"
# Nothing of it is secret.
KEY = "dGVzdHMgb2YgdXBncmFkZXM6IG5vdCBhIHNlY3JldC4="
SCOPES = ["public", "proposals", "blogs", "meetings", "surveys", "roles", "attachments", "oauth"]
PERMISSIONS = ["public.component.read", "public.component.extended_data.read", "public.space.read",
               "public.space.extended_data.read", "proposals.read", "proposals.draft", "proposals.vote",
               "proposals.extended_data.read", "blogs.read", "meetings.read", "meetings.extended_data.read",
               "surveys.questionnaires.read", "surveys.questions.manage", "surveys.answers.submit", "surveys.answers.read",
               "roles.read", "attachments.read", "oauth.read", "oauth.extended_data.read"]


class Target:
    """A program, a directory with data, and a database that is migrated."""

    def __init__(self, binary, directory, database, **settings):
        self.binary, self.directory, self.database = binary, directory, database
        (directory / "data").mkdir(mode=0o700, parents=True, exist_ok=True)
        self.port = server.free_port()
        settings = {"DATABASE_URL": database, "DATA_DIR": directory / "data", "LISTEN": f"127.0.0.1:{self.port}",
                    "PUBLIC_SCHEME": "http", "LOG": "warn", "CLASS_NAME_PREFIX": "Decidim", "SECRET_KEY": KEY,
                    "MAX_FAILED_AUTHENTICATIONS_PER_MINUTE": "0", **settings}
        others = {name: value for name, value in os.environ.items() if not name.startswith("CIVITAS_")}
        self.environment = {**others, **{f"CIVITAS_{name}": str(value) for name, value in settings.items()}}
        self.must("migrate")

    def start(self, *arguments, environment=None):
        """Starts a command."""
        return subprocess.Popen([self.binary, *map(str, arguments)], env={**self.environment, **(environment or {})},
                                cwd=self.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def call(self, *arguments, environment=None):
        """Runs a command. Returns its exit code, its output and its errors."""
        process = self.start(*arguments, environment=environment)
        try:
            output, errors = process.communicate(timeout=COMMAND_SECONDS)
        finally:
            process.kill()
        return process.returncode, output, errors

    def must(self, *arguments, environment=None):
        code, output, errors = self.call(*arguments, environment=environment)
        if code != 0:
            raise RuntimeError(f"civitas {' '.join(map(str, arguments))}: exit code {code}\n{errors}")
        return output

    def query(self, statement):
        """The rows of a statement, as lists of texts."""
        if self.database.startswith("sqlite:"):
            with contextlib.closing(sqlite3.connect(self.database.removeprefix("sqlite://"))) as connection:
                rows = connection.execute(statement).fetchall()
                connection.commit()
            return [[str(value) for value in row] for row in rows]
        return [line.split("|") for line in source.psql(self.database, "--command", statement).splitlines()]

    def export(self, *options):
        """All records, by type and ref."""
        records = map(json.loads, self.must("export", *options).splitlines())
        return {(record["type"], record["ref"]): record for record in records if record["type"] != "archive"}

    def add_client(self, organization, name=CLIENT):
        """A client of an organization with all rights that the checks need."""
        scopes = [option for scope in SCOPES for option in ("--scope", scope)]
        permissions = [option for permission in PERMISSIONS for option in ("--permission", permission)]
        self.must("api-client", "create", "--organization-id", organization, "--id", name, "--secret", SECRET,
                  "--allow-impersonate", "--allow-login", *scopes, *permissions)

    @contextlib.contextmanager
    def serving(self, **settings):
        """Serves it, without workers: nothing changes by itself, and nothing leaves the machine."""
        log = self.directory / "server.log"
        environment = {**self.environment, **{f"CIVITAS_{name}": str(value) for name, value in settings.items()}}
        with open(log, "w") as output:
            process = subprocess.Popen([self.binary, "serve", "--no-workers"], env=environment, cwd=self.directory,
                                       stdout=output, stderr=output)
        try:
            server.wait_for_port(process, self.port, log)
            yield self
        finally:
            process.terminate()
            process.wait(server.TIMEOUT_SECONDS)

    def copy(self, directory):
        """A copy of this deployment. SQLite only; nothing may use it."""
        with contextlib.closing(sqlite3.connect(self.database.removeprefix("sqlite://"))) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copytree(self.directory, directory)
        return Target(self.binary, directory, self.database.replace(str(self.directory), str(directory)))


class Api:
    """Requests to a server as clients of one organization. Tokens are kept."""

    def __init__(self, port, host):
        self.port, self.host, self.tokens = port, host, {}
        # The text of every answer.
        self.seen = []

    def request(self, method, path, token=None, body=None, raw=False):
        """Status and answer."""
        headers = {"Host": self.host, "Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as answer:
                status, content = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, content = error.code, error.read()
        if raw:
            return status, content
        self.seen.append(content.decode())
        return status, json.loads(content) if content else None

    def grant(self, client=CLIENT, secret=SECRET, **fields):
        """Asks for a token."""
        return self.request("POST", "/oauth/token", body={"client_id": client, "client_secret": secret, **fields})

    def login(self, nickname, password, client=CLIENT, secret=SECRET):
        return self.grant(client, secret, grant_type="password", auth_type="login", username=nickname, password=password,
                          scope="public")

    def token(self, actor, client=CLIENT, secret=SECRET, scopes=SCOPES):
        """A token of the client itself (`service`), or for the account with this id."""
        key = (actor, client)
        if key not in self.tokens:
            fields = {"grant_type": "client_credentials"}
            if actor != "service":
                fields = {"grant_type": "password", "auth_type": "impersonate", "id": actor}
            status, answer = self.grant(client, secret, scope=" ".join(scopes), **fields)
            if status != 200:
                return f"none: {status} {answer}"
            self.tokens[key] = answer["access_token"]
        return self.tokens[key]

    def get(self, path, actor="service", **options):
        return self.request("GET", f"{BASE}/{path}", self.token(actor, **options))

    def send(self, method, path, body, actor="service", **options):
        return self.request(method, f"{BASE}/{path}", self.token(actor, **options), body)

    def data(self, path, actor="service", **options):
        """`data` of an answer; an empty object where it is not 200."""
        status, answer = self.get(path, actor, **options)
        return answer["data"] if status == 200 else {}

    def list(self, path, actor="service"):
        """All records of a list."""
        records, page = [], 1
        while True:
            status, answer = self.get(f"{path}{'&' if '?' in path else '?'}per_page=100&page={page}", actor)
            if status != 200:
                raise RuntimeError(f"GET {path}: {status} {answer}")
            records += answer["data"]
            if not answer["meta"]["has_more"]:
                return records
            page += 1

    def ids(self, path, actor="service"):
        return {record["id"] for record in self.list(path, actor)}


def panel_login(port, host, email, password):
    """Whether a system administrator can sign in to the panel."""
    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), NoRedirect)

    def ask(path, data=None):
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"Host": host, "Origin": f"http://{host}"})
        try:
            with opener.open(request, timeout=REQUEST_SECONDS) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    path = "/system/admins/sign_in"
    _, _, page = ask(path)
    token = re.search(r'name="authenticity_token" value="([^"]*)"', page)
    fields = {"authenticity_token": html.unescape(token[1]) if token else "", "admin[email]": email, "admin[password]": password}
    status, headers, _ = ask(path, urllib.parse.urlencode(fields).encode())
    return status == 302 and urllib.parse.urlsplit(headers["Location"]).path == "/system"


def peak_memory(process):
    """Waits for a process. Its exit code, seconds, and peak memory in MiB, without the pages of mapped files."""
    start, peak = time.monotonic(), 0
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        with contextlib.suppress(OSError):
            found = re.search(r"^RssAnon:\s+(\d+) kB", status.read_text(), re.M)
            peak = max(peak, int(found[1]) if found else 0)
        time.sleep(0.2)
    return process.returncode, time.monotonic() - start, peak / 1024
