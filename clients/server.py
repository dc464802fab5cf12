"""The server of the tests: the demo city, a component with 205 proposals, and two API clients with known secrets."""
import json
import os
import re
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

DEMO = Path(__file__).resolve().parent.parent / "crates/archive/src/demo.ndjson"
TIMEOUT_SECONDS = 60
PROPOSALS = 205
# Short, so that the tests see tokens expire.
TOKEN_LIFETIME_SECONDS = 6
SECRET = "tests-of-clients-0123456789-abcdef"


def records():
    """The records that the tests need beside the demo city."""
    city, published = {"organization": "riverbend"}, {"published_at": "2026-02-02T09:00:00Z"}
    clients = [json.loads(line) for line in DEMO.read_text().splitlines() if line.startswith('{"type": "api_client"')]
    (full,) = [client for client in clients if client["client_id"] == "demo-full-access"]
    yield {**full, "ref": "tests-full", "client_id": "tests-full", "name": "Tests: everything", "client_secret": SECRET}
    yield {**full, "ref": "tests-public", "client_id": "tests-public", "name": "Tests: public", "client_secret": SECRET,
           "scopes": ["public", "proposals"], "permissions": ["public.space.read"]}
    yield {"type": "component", "ref": "many", **city, **published, "space": "greener-streets", "manifest": "proposals",
           "name": {"en": "Many ideas"}, "default_step_settings": {"votes_enabled": True},
           "step_settings": {"streets-vote": {"votes_enabled": True}}}
    for number in range(PROPOSALS):
        yield {"type": "proposal", "ref": f"many-{number}", **city, **published, "component": "many", "authors": [],
               "title": {"en": f"Bench number {number}"}, "body": {"en": "A bench in the shade, beside the path."}}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def running(binary, directory, **overrides):
    """Runs a server on a free port, with new data. Yields the environment of the tests. `overrides` are settings."""
    port, log = free_port(), directory / "server.log"
    settings = {"DATA_DIR": directory / "data", "LISTEN": f"127.0.0.1:{port}", "PUBLIC_SCHEME": "http",
                "PUBLIC_PORT": port, "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
                "TOKEN_LIFETIME_SECONDS": TOKEN_LIFETIME_SECONDS, **overrides}
    environment = {**os.environ, **{f"CIVITAS_{name}": str(value) for name, value in settings.items()}}
    call = lambda *arguments: subprocess.run([binary, *arguments], env=environment, cwd=directory, check=True,
                                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout
    archive = directory / "tests.ndjson"
    archive.write_text("".join(f"{json.dumps(record)}\n" for record in records()))
    call("migrate")
    call("import", "--quiet", "--allow-operators", str(DEMO))
    component = re.search(r'"many": ?(\d+)', call("import", "--quiet", str(archive)))[1]
    with open(log, "w") as output:
        server = subprocess.Popen([binary, "serve"], env=environment, cwd=directory, stdout=output, stderr=output)
    try:
        wait_for_port(server, port, log)
        yield {"CIVITAS_TEST_URL": f"http://localhost:{port}", "CIVITAS_TEST_SECRET": SECRET,
               "CIVITAS_TEST_COMPONENT": component, "CIVITAS_TEST_PROPOSALS": str(PROPOSALS),
               "CIVITAS_TEST_TOKEN_LIFETIME": str(TOKEN_LIFETIME_SECONDS)}
    finally:
        server.terminate()
        server.wait(TIMEOUT_SECONDS)


def wait_for_port(server, port, log):
    end = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < end and server.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"the server did not start:\n{log.read_text()}")
