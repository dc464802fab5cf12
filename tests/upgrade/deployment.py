"""A deployment for the tests of upgrades: its settings, its database, its server, and reads from it."""
import contextlib
import json
import lzma
import os
import re
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "clients"))
import server

ENGINES = ("sqlite", "postgres")
# Where answers are kept, links have this host whatever the port of the server is.
HOST = "localhost:3000"
CLIENT = {"client_id": "tests-upgrade", "client_secret": "tests-of-upgrades-0123456789-abcdef"}
USER = "nora_blum"
POSTGRES = os.environ.get("CIVITAS_TEST_POSTGRES") or "postgres://postgres@127.0.0.1:5432/postgres"
REQUEST_SECONDS = 60


def demo_records():
    return [json.loads(line) for line in server.DEMO.read_text().splitlines() if line.strip()]


def psql(address, *arguments, **options):
    return subprocess.run(["psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", address, *arguments],
                          check=True, stdout=subprocess.DEVNULL, text=True, **options)


class Deployment:
    """A program, a directory with data, and the address of a database."""

    def __init__(self, binary, directory, address):
        self.binary, self.directory = binary, directory
        self.port = server.free_port()
        # The key of the kept databases. Nothing of it is secret.
        settings = {"DATABASE_URL": address, "DATA_DIR": directory / "data", "LISTEN": f"127.0.0.1:{self.port}",
                    "PUBLIC_SCHEME": "http", "PUBLIC_PORT": HOST.partition(":")[2], "LOG": "warn",
                    "SECRET_KEY": "dGVzdHMgb2YgdXBncmFkZXM6IG5vdCBhIHNlY3JldC4="}
        others = {name: value for name, value in os.environ.items() if not name.startswith("CIVITAS_")}
        self.environment = {**others, **{f"CIVITAS_{name}": str(value) for name, value in settings.items()}}

    def call(self, *arguments):
        """Runs a command. Returns its exit code and its output."""
        ran = subprocess.run([self.binary, *map(str, arguments)], env=self.environment, cwd=self.directory, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return ran.returncode, ran.stdout

    def must(self, *arguments):
        code, output = self.call(*arguments)
        if code != 0:
            raise RuntimeError(f"civitas {' '.join(map(str, arguments))}: exit code {code}\n{output}")
        return output

    @contextlib.contextmanager
    def serving(self, scopes):
        """Without workers: nothing changes by itself, and nothing leaves the machine. Yields a `Reader` with these scopes."""
        log = self.directory / "server.log"
        with open(log, "w") as output:
            process = subprocess.Popen([self.binary, "serve", "--no-workers"], env=self.environment, cwd=self.directory,
                                       stdout=output, stderr=output)
        try:
            server.wait_for_port(process, self.port, log)
            yield Reader(self.port, scopes)
        finally:
            process.terminate()
            process.wait(server.TIMEOUT_SECONDS)


class Reader:
    """Sends requests as a client with its own rights (`service`) or for a user (`user`)."""

    def __init__(self, port, scopes):
        self.port = port
        # No user may have this one.
        of_user = [scope for scope in scopes if scope != "system"]
        self.tokens = {
            "service": self._token(grant_type="client_credentials", scope=" ".join(scopes)),
            "user": self._token(grant_type="password", auth_type="impersonate", username=USER, scope=" ".join(of_user)),
        }

    def _token(self, **grant):
        status, answer = self._send("POST", "/oauth/token", None, {**CLIENT, **grant})
        if status != 200:
            raise RuntimeError(f"no token: {status} {answer}")
        return answer["access_token"]

    def send(self, method, caller, path, body=None):
        """Returns the status and the answer, below the base of the interface."""
        return self._send(method, f"/api/rest_full/v0.3/{path}", self.tokens[caller], body)

    def get(self, caller, path):
        return self.send("GET", caller, path)

    def _send(self, method, path, token, body):
        headers = {"Host": HOST, "Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        return status, json.loads(text) if text else None


@contextlib.contextmanager
def database(engine, directory):
    """An address for a new database. PostgreSQL: made on the server of the tests, and dropped at the end."""
    if engine == "sqlite":
        (directory / "data").mkdir(mode=0o700, parents=True)
        yield f"sqlite://{directory}/data/civitas.db"
        return
    name = f"civitas_upgrade_{os.getpid()}"
    psql(POSTGRES, "--command", f"CREATE DATABASE {name}")
    try:
        yield urllib.parse.urlsplit(POSTGRES)._replace(path=f"/{name}").geturl()
    finally:
        psql(POSTGRES, "--command", f"DROP DATABASE {name} WITH (FORCE)")


# The files of a release.
DATABASES = {"sqlite": "sqlite.db.xz", "postgres": "postgres.sql.xz"}
ANSWERS = {engine: f"{engine}.answers.json.xz" for engine in ENGINES}


def pack(data):
    return lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)


def copy_of(engine, address):
    """The bytes of a database that nothing uses."""
    if engine == "sqlite":
        file = Path(address.removeprefix("sqlite://"))
        # What the server left in the write-ahead log goes into the file.
        with contextlib.closing(sqlite3.connect(file)) as connection:
            (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise RuntimeError(f"{file} is in use")
        return file.read_bytes()
    dump = subprocess.run(["pg_dump", "--no-owner", "--no-privileges", "--no-comments", "--dbname", address], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    # Commands and settings that only newer servers and programs have.
    dump = re.sub(r"^(\\(un)?restrict .*|SET transaction_timeout = 0;)\n", "", dump, flags=re.M)
    return dump.encode()


def unpack(file):
    return lzma.decompress(file.read_bytes())


def restore(file, engine, address):
    data = unpack(file)
    if engine == "sqlite":
        Path(address.removeprefix("sqlite://")).write_bytes(data)
    else:
        psql(address, input=data.decode())
