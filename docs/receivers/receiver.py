"""Receives webhooks: WEBHOOK_SECRET=… python3 receiver.py PORT DIRECTORY"""
import hashlib, hmac, os, re, sys, tempfile, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"].encode()
PORT, DIRECTORY = int(sys.argv[1]), sys.argv[2]
MAX_BODY, TOLERANCE_SECONDS = 5_000_000, 300


def check(headers, body):
    """Returns the status of the answer."""
    timestamp = headers.get("X-Webhook-Timestamp", "")
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return 400
    expected = "v1=" + hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), headers.get("X-Webhook-Signature", "").encode()):
        return 401
    return 204 if re.fullmatch("[0-9a-f-]{36}", headers.get("X-Webhook-Id", "")) else 400


def store(delivery, body):
    """Writes DIRECTORY/<delivery>.json, unless it is there."""
    with tempfile.NamedTemporaryFile(dir=DIRECTORY) as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
        try:
            os.link(file.name, os.path.join(DIRECTORY, delivery + ".json"))
        except FileExistsError:
            pass  # A repeated delivery.


class Receiver(BaseHTTPRequestHandler):
    protocol_version, timeout = "HTTP/1.1", 30

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,9}", length) or int(length) > MAX_BODY:
            return self.answer(413)
        body = self.rfile.read(int(length))
        status = check(self.headers, body)
        try:
            if status == 204:
                store(self.headers["X-Webhook-Id"], body)
        except OSError:
            status = 500
        self.answer(status)

    def answer(self, status):
        self.close_connection = status != 204
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", PORT), Receiver).serve_forever()
