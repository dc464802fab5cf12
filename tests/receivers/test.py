"""Runs the receivers of docs/receivers against a server. Called by `run`: test.py PAGE BINARY DIRECTORY

The shell commands of the page (docs/WEBHOOKS.md) register the first receiver and cause the events.
"""
import base64
import hashlib
import hmac
import json
import os
import re
import shlex
import subprocess
import sys
import time
import uuid
from contextlib import ExitStack
from pathlib import Path

from servers import TIMEOUT_SECONDS, Program, Recorder, free_port, post, start_demo, wait_until
from standardwebhooks import Webhook, WebhookVerificationError

PAGE, BINARY, WORK = (Path(argument) for argument in sys.argv[1:])
HERE = Path(__file__).parent
LANGUAGES = {"python": ("python3", "receiver.py"), "js": ("node", "receiver.mjs"), "ruby": ("ruby", "receiver.rb")}
EVENTS = ["user.created", "draft_proposal_creation.succeeded", "draft_proposal_update.succeeded"]
EVENTS += ["proposal_creation.succeeded"]
COUNTS = {"passed": 0, "failed": 0}


def check(name, holds, detail=""):
    COUNTS["passed" if holds else "failed"] += 1
    print(f"{'ok    ' if holds else 'FAILED'} {name}{'' if holds else f': {detail}'}", flush=True)


def blocks(language):
    """The fenced blocks of the page in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


def on(demo, script):
    """Shell commands of the page with the address and the secret of this server."""
    assert "http://localhost:3000" in script and "=…" in script, "the page no longer has address and secret"
    return script.replace("http://localhost:3000", f"http://localhost:{demo.port}").replace("=…", f"={demo.secret}")


def shell(demo, script, **changes):
    """Runs shell commands of the page. Returns the output."""
    script = on(demo, script)
    for before, after in changes.items():
        script = script.replace(before, after)
    command = ["timeout", str(TIMEOUT_SECONDS), "bash", "-euo", "pipefail", "-c", script]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def register(demo, port):
    """Registers a receiver with the commands of the page. Returns the secret."""
    first = blocks("bash")[0].replace("127.0.0.1:8000", f"127.0.0.1:{port}")
    answer = json.loads(shell(demo, first))
    return answer["data"]["attributes"]["signing_secret"]


class Receiver(Program):
    """A receiver, registered and listening."""

    def __init__(self, demo, language):
        program, name = LANGUAGES[language]
        self.language, self.stored, port = language, WORK / f"events-{language}", free_port()
        self.stored.mkdir()
        self.secret = register(demo, port)
        with open(WORK / f"{name}.log", "w") as log:
            command = [program, PAGE.parent / "receivers" / name, str(port), self.stored]
            super().__init__(command, port, env={**os.environ, "WEBHOOK_SECRET": self.secret}, stdout=log, stderr=log)

    def events(self):
        """The bodies of the stored events."""
        return [file.read_bytes() for file in self.stored.glob("*.json")]

    def signed(self, body, at=None, delivery=None, secret=None):
        """The headers of a delivery."""
        at = str(int(time.time()) if at is None else at)
        digest = hmac.new((secret or self.secret).encode(), at.encode() + b"." + body, hashlib.sha256).hexdigest()
        return {"Content-Type": "application/json", "X-Webhook-Timestamp": at,
                "X-Webhook-Signature": f"v1={digest}", "X-Webhook-Id": delivery or str(uuid.uuid4())}

    def answer(self, headers, body):
        return post(f"http://127.0.0.1:{self.port}/", headers, body)


def check_refusals(receiver):
    """What a receiver answers to requests that Civitas would not send."""
    body, before = '{"type":"user.created","data":{"id":"1","attributes":{"name":"Zoë"}}}'.encode(), receiver.events()
    now, name = int(time.time()), receiver.language
    good = receiver.signed(body)
    without = lambda header: {key: value for key, value in good.items() if key != header}
    no_latin = {**good, "X-Webhook-Signature": "v1=\xff\xfe"}
    for case, headers, sent, expected in [
        ("a wrong secret", receiver.signed(body, secret="0" * 64), body, 401),
        ("a changed body", good, body.replace(b'"1"', b'"2"'), 401),
        ("a body written again", good, json.dumps(json.loads(body)).encode(), 401),
        ("an empty body", good, b"", 401),
        ("a changed timestamp", {**good, "X-Webhook-Timestamp": str(now - 1)}, body, 401),
        ("a stale timestamp", receiver.signed(body, at=now - 310), body, 400),
        ("a timestamp in the future", receiver.signed(body, at=now + 310), body, 400),
        ("a timestamp that is not a number", receiver.signed(body, at="1e9"), body, 400),
        ("no timestamp", without("X-Webhook-Timestamp"), body, 400),
        ("no signature", without("X-Webhook-Signature"), body, 401),
        ("a signature that is not text", no_latin, body, 401),
        ("no id", without("X-Webhook-Id"), body, 400),
        ("an id with a path", {**good, "X-Webhook-Id": "../../../../../../../../../../tmp/civitas"}, body, 400),
        ("a body that is too long", good, b" " * 5_000_001, 413),
    ]:
        try:
            status = receiver.answer(headers, sent)
        except OSError as error:
            # A receiver may close the connection while it is still sent to.
            status = 413 if expected == 413 else error
        check(f"{name}: {case} is refused with {expected}", status == expected, status)
    check(f"{name}: what was refused is not stored", receiver.events() == before)


def check_repetition(receiver):
    body, before = b'{"type":"user.created","data":{"id":"1"}}', len(receiver.events())
    earlier, delivery = int(time.time()) - 290, str(uuid.uuid4())
    statuses = [receiver.answer(receiver.signed(body, at, delivery), body) for at in (earlier, None, None)]
    check(f"{receiver.language}: a repeated id is accepted", statuses == [204, 204, 204], statuses)
    check(f"{receiver.language}: a repeated id is stored once", len(receiver.events()) == before + 1)
    rest = [file.name for file in receiver.stored.iterdir() if not re.fullmatch(r"[0-9a-f-]{36}\.json", file.name)]
    check(f"{receiver.language}: no other files remain", rest == [], rest)


def check_events(receivers, recorder):
    """Each receiver got every event."""
    wait_until(lambda: len(recorder.accepted()) >= len(EVENTS), "the deliveries")
    for receiver in receivers:
        wait_until(lambda: len(receiver.events()) >= len(EVENTS), f"the deliveries to {receiver.language}")
        types = sorted(json.loads(body)["type"] for body in receiver.events())
        check(f"{receiver.language}: every event was stored once", types == sorted(EVENTS), types)
    sent = sorted(body for _, body in recorder.accepted())
    same = all(sorted(receiver.events()) == sent for receiver in receivers)
    check("all receivers got the same bytes", same)
    check("texts with & and é are among them", any("Café tables & bike".encode() in body for body in sent))


def check_requests(recorder, secret):
    """Headers and signatures of the requests of the server."""
    status, first, body = recorder.requests[0]
    again = [headers for headers, repeated in recorder.accepted() if headers["x-webhook-id"] == first["x-webhook-id"]]
    check("a refused delivery is sent again, once, with the same id", status == 503 and len(again) == 1, again)
    check("its body is the same", (again[0], body) in recorder.accepted())
    check("its timestamp is newer", int(again[0]["x-webhook-timestamp"]) > int(first["x-webhook-timestamp"]))
    signature = lambda at, body: "v1=" + hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    deliveries = [(headers, body) for _, headers, body in recorder.requests]
    for name, holds in {
        "X-Webhook-Signature": lambda h, body: h["x-webhook-signature"] == signature(h["x-webhook-timestamp"], body),
        "X-Webhook-Timestamp": lambda h, _: abs(int(h["x-webhook-timestamp"]) - time.time()) < 120,
        "Content-Type": lambda h, _: h["content-type"] == "application/json",
        "User-Agent": lambda h, _: h["user-agent"] == "civitas-webhook/1",
    }.items():
        check(f"{name} is that of the page", all(holds(*delivery) for delivery in deliveries), deliveries[0][0])
    check_libraries(deliveries, "whsec_" + base64.b64encode(secret.encode()).decode())


def check_libraries(deliveries, key):
    """Independent implementations of Standard Webhooks verify the deliveries."""
    (command,) = [line.strip() for line in PAGE.read_text().splitlines() if line.startswith("    python3 -c")]
    secret = base64.b64decode(key.removeprefix("whsec_")).decode()
    printed = subprocess.run(["bash", "-c", command], env={**os.environ, "WEBHOOK_SECRET": secret},
                             stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    check("the command of the page prints the key of the libraries", printed == key, printed)
    other = "whsec_" + base64.b64encode(b"0" * 64).decode()
    given = [{"key": key, "headers": headers, "body": body.decode()} for headers, body in deliveries]
    given += [{**given[0], "key": other}, {**given[0], "body": given[0]["body"] + " "}]
    given += [{**given[0], "headers": {**given[0]["headers"], "webhook-id": str(uuid.uuid4())}}]
    expected = [True] * len(deliveries) + [False] * 3
    node = subprocess.run(["node", HERE / "verify.mjs"], input=json.dumps(given), stdout=subprocess.PIPE, text=True,
                          check=True)
    check("the library of JavaScript verifies them", json.loads(node.stdout) == expected, node.stdout)
    verified = [verifies(**one) for one in given]
    check("the library of Python verifies them", verified == expected, verified)


def verifies(key, headers, body):
    try:
        return Webhook(key).verify(body, headers) == json.loads(body)
    except WebhookVerificationError:
        return False


def check_stream(demo, recorder):
    """The event stream of the page has the same bytes, and resumes."""
    (earlier,) = [body for _, body in recorder.accepted() if json.loads(body)["type"] == "user.created"]
    with open_stream(demo, TIMEOUT_SECONDS) as stream:
        line = stream.stdout.readline()
        check("a stream begins with a comment", line.startswith(b":"), line)
        # Another user; the proposal is not repeated.
        shell(demo, blocks("bash")[1].split("\nsend()")[0], ada_martin="luc_martin")
        message = dict(line.rstrip(b"\n").split(b": ", 1) for line in read_message(stream.stdout))
        stream.kill()
    wait_until(lambda: len(recorder.accepted()) > len(EVENTS), "the delivery of the streamed event")
    check("it has the event, and the bytes of the webhook", message[b"event"] == b"user.created"
          and message[b"data"] != earlier and message[b"data"] in [body for _, body in recorder.accepted()], message)
    with open_stream(demo, 2, "-w", "%{http_code}", "-H", f"Last-Event-ID: {uuid.uuid4()}") as stream:
        answer = stream.stdout.read()
        check("an unknown Last-Event-ID is refused with 410", answer.endswith(b"410"), answer)
    with open_stream(demo, 2, "-H", f"Last-Event-ID: {message[b'id'].decode()}") as stream:
        answer = stream.stdout.read()
        check("a stream resumes after an event, without it", b":" in answer and b"data:" not in answer, answer)


def open_stream(demo, seconds, *options):
    """Runs the commands of the page for a stream, with further options of curl."""
    curl = shlex.join(["curl", "-sN", "--max-time", str(seconds), *options])
    token = blocks("bash")[0].split("\ncurl -s $ORIGIN/api")[0]
    script = on(demo, f"{token}\n{blocks('bash')[2]}").replace("curl -sN", curl)
    return subprocess.Popen(["bash", "-c", script], stdout=subprocess.PIPE)


def check_bridge(demo, recorder):
    """The bridge of the page prints and posts events, continues after its cursor, and repeats what was refused."""
    cursor, printed, target = WORK / "cursor", WORK / "bridge.out", Recorder()
    key = lambda event: json.dumps([event["type"], event["data"]], sort_keys=True)
    sent = {key(json.loads(body)) for _, body in recorder.accepted()}
    lines = lambda: [json.loads(line) for line in printed.read_text().splitlines(keepends=True) if line.endswith("\n")]
    with bridge(demo, printed, cursor):
        wait_until(lambda: sent <= set(map(key, lines())), "the printed events")
    events = lines()
    check("the bridge prints each event once", len(events) == len({event["id"] for event in events}), events)
    check("they are CloudEvents 1.0", all(event["specversion"] == "1.0" and event["source"].startswith("http")
                                          for event in events), events)
    stored = cursor.read_text()
    check("it stores its cursor", stored in [event["id"] for event in events[-2:]], stored)
    cursor.write_text(events[-3]["id"])
    with bridge(demo, WORK / "bridge-posts.out", cursor, f"http://127.0.0.1:{target.port}/"):
        wait_until(lambda: len(target.accepted()) >= 2, "the posted events")
    posted = [(status, json.loads(body)["id"]) for status, _, body in target.requests[:3]]
    expected = [(503, events[-2]["id"]), (204, events[-2]["id"]), (204, events[-1]["id"])]
    check("it repeats what was refused, and not what is before its cursor", posted == expected, posted)
    types = {headers["content-type"] for headers, _ in target.accepted()}
    check("it posts in structured mode", types == {"application/cloudevents+json"}, types)


def bridge(demo, output, *arguments):
    environment = {**os.environ, "CIVITAS_ORIGIN": f"http://localhost:{demo.port}", "CIVITAS_CLIENT_SECRET": demo.secret,
                   "CIVITAS_CLIENT_ID": "demo-full-access"}
    command = [sys.executable, HERE.parents[1] / "examples/events/bridge.py", *arguments]
    with open(output, "w") as out, open(WORK / "bridge.log", "a") as log:
        return Program(command, None, env=environment, stdout=out, stderr=log)


def read_message(lines):
    """The next message of a stream, without comments."""
    message = []
    for line in lines:
        if line == b"\n" and message:
            return message
        if line != b"\n" and not line.startswith(b":"):
            message.append(line)
    raise EOFError("the stream ended")


def check_all(demo, receivers, recorder):
    secret = register(demo, recorder.port)
    for receiver in receivers:
        wait_until(receiver.started, f"the start of {receiver.language}")
    shell(demo, blocks("bash")[1])
    check_events(receivers, recorder)
    check_requests(recorder, secret)
    for receiver in receivers:
        check_refusals(receiver)
        check_repetition(receiver)
    check_stream(demo, recorder)
    check_bridge(demo, recorder)


with ExitStack() as stack:
    demo = stack.enter_context(start_demo(BINARY.resolve(), WORK))
    receivers = [stack.enter_context(Receiver(demo, language)) for language in LANGUAGES]
    try:
        check_all(demo, receivers, Recorder())
        check("the test runs to its end", True)
    except Exception as error:
        check("the test runs to its end", False, repr(error))
    if COUNTS["failed"]:
        for log in sorted(WORK.glob("*.log")):
            print(f"--- {log.name}", *log.read_text().splitlines()[-20:], sep="\n")
print(f"{COUNTS['passed']} passed, {COUNTS['failed']} failed")
sys.exit(COUNTS["failed"] > 0)
