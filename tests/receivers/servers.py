"""The processes of the test: the server with demo data, a receiver of the page, and a recorder."""
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TIMEOUT_SECONDS = 30


def wait_until(holds, what):
    """Waits for a condition, and returns its value."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < end:
        value = holds()
        if value:
            return value
        time.sleep(0.02)
    raise TimeoutError(f"{what}: not within {TIMEOUT_SECONDS} s")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


class Program:
    """A process with a port; killed at the end of the `with` block."""

    def __init__(self, command, port, **options):
        self.process = subprocess.Popen(command, **options)
        self.port = port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def started(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"it ended with {self.process.returncode}")
        return listens(self.port)


def start_demo(binary, directory):
    """The server, and the secret of the demo's client. Deliveries are sent again after one second."""
    port, output = free_port(), directory / "demo.out"
    settings = ["--listen", f"127.0.0.1:{port}", "--data-dir", directory / "data"]
    settings += ["--webhook-allowed-networks", "127.0.0.0/8", "--webhook-retry-delays-seconds", "1,1,1"]
    with open(output, "w") as out, open(directory / "demo.log", "w") as log:
        demo = Program([binary, "demo", *settings], port, stdout=out, stderr=log, cwd=directory)
    secret = r"^ *API client +demo-full-access +(\S+)$"
    try:
        printed = lambda: demo.started() and re.search(secret, output.read_text(), re.M)
        demo.secret = wait_until(printed, "the start of the server")[1]
    except BaseException:
        demo.__exit__()
        raise
    return demo


def post(url, headers, body):
    """The status of the answer to a POST."""
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


class Recorder:
    """A receiver that stores each request with its headers. It refuses the first attempt at its first delivery."""

    def __init__(self):
        requests = self.requests = []
        refused = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = 204 if refused.is_set() else 503
                refused.set()
                requests.append((status, {name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(status)
                if status != 204:
                    self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def accepted(self):
        """Headers and body of the deliveries that were accepted."""
        return [(headers, body) for status, headers, body in list(self.requests) if status == 204]
