"""The checks of tests/decidim/run on `civitas compare`."""
import contextlib
import http.server
import json
import re
import threading
import urllib.error
import urllib.request

import sample
import target

PARALLEL = 4


class Proxy:
    """Stands before a server and counts requests. With `shapes` it answers as the module rest_full does: without `meta` of lists,
    with singular types of resources, and with a hidden proposal."""

    def __init__(self, port, shapes=False):
        self.requests, self.open, self.most = set(), 0, 0
        lock, proxy = threading.Lock(), self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                with lock:
                    proxy.requests.add((self.command, self.path.partition("?")[0]))
                    proxy.open += 1
                    proxy.most = max(proxy.most, proxy.open)
                try:
                    body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                    headers = {name: value for name, value in self.headers.items() if name.lower() in (
                        "host", "authorization", "content-type", "accept")}
                    request = urllib.request.Request(f"http://127.0.0.1:{port}{self.path}", body or None, headers, method=self.command)
                    try:
                        with urllib.request.urlopen(request, timeout=target.REQUEST_SECONDS) as answer:
                            status, kind, content = answer.status, answer.headers["Content-Type"], answer.read()
                    except urllib.error.HTTPError as error:
                        status, kind, content = error.code, error.headers["Content-Type"], error.read()
                    if shapes and status == 200 and "json" in (kind or ""):
                        content = in_old_shape(self.path, content)
                    self.send_response(status)
                    self.send_header("Content-Type", kind or "application/json")
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                finally:
                    with lock:
                        proxy.open -= 1

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = handle_one

            def log_message(self, *_):
                pass

        self.listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.listener.server_address[1]}"
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    def close(self):
        self.listener.shutdown()
        self.listener.server_close()


def in_old_shape(path, content):
    """An answer as the module has it."""
    answer = json.loads(content)
    if not isinstance(answer, dict):
        return content
    data = answer.get("data")
    if isinstance(data, list):
        answer.pop("meta", None)
        if re.search(r"/proposals(\?|$)", path) and "page=1&" in f"{path}&" and data:
            hidden = json.loads(json.dumps(data[0]))
            hidden["id"] = "8"
            data.append(hidden)
    for record in data if isinstance(data, list) else [data]:
        if isinstance(record, dict):
            resources = (record.get("relationships") or {}).get("resources", {}).get("data", [])
            for resource in resources:
                resource["type"] = resource["type"].removesuffix("s")
            if record.get("type") == "proposal":
                for name in ("published_at", "withdrawn", "votes_count"):
                    (record.get("meta") or {}).pop(name, None)
    return json.dumps(answer).encode()


def compare(place, old, new, *more):
    """Runs a comparison as the client of the checks. Exit code, report, errors."""
    secret, report = place.directory / "secret", place.directory / "compare.json"
    secret.write_text(target.SECRET)
    report.unlink(missing_ok=True)
    code, output, errors = place.call("compare", "--old", old, "--new", new, "--host", sample.RIVERTON, "--client-id", target.CLIENT,
                                      "--client-secret-file", secret, "--report", report, "--format", "json", "--parallel", PARALLEL,
                                      "--sample", "all", *more)
    return code, json.loads(report.read_text()) if report.exists() else {}, errors + output[-500:]


def differences(report):
    """What is not expected, by group: ids that one side lacks, the number of items that differ, and the members."""
    found = {}
    for actor in report.get("actors", []):
        for group, result in actor["groups"].items():
            if result["different"] or result["only_old"] or result["only_new"]:
                members = sorted({one["member"] for one in result["samples"]})
                found[(actor["actor"], group)] = (result["only_old"], result["only_new"], result["different"], members)
    return found


def comparisons(world, made):
    """Checks 38 to 40, on copies of the import into SQLite."""
    place = made["sqlite"][0]
    same = place.copy(world.work / "compare-same")
    same.add_client(1)
    changed = same.copy(world.work / "compare-changed")
    records = [
        {"type": "proposal", "ref": "1", "organization": "1", "title": {"en": "Fewer trees along Main Street"},
         "updated_at": "2025-06-02T10:00:00Z"},
        {"type": "proposal", "ref": "10", "organization": "1", "state": "accepted", "updated_at": "2025-06-04T00:00:00Z"},
        {"type": "meeting", "ref": "extra", "organization": "1", "component": "5", "title": {"en": "One more"},
         "start_time": "2025-05-01T17:00:00Z", "published_at": "2025-03-01T00:00:00Z"},
    ]
    changed.must("import", "--quiet", sample.write(changed.directory / "changes.ndjson", records))
    changed.query("delete from votes where id = 2")
    only = ["--actor", "service"]
    with contextlib.ExitStack() as stack:
        stack.enter_context(same.serving())
        stack.enter_context(changed.serving())
        proxy, shaped = Proxy(same.port), Proxy(same.port, shapes=True)
        stack.callback(proxy.close)
        stack.callback(shaped.close)
        own, other = (f"http://127.0.0.1:{one.port}" for one in (same, changed))
        code, report, errors = compare(place, proxy.address, own)
        world.check(38, "a server equals itself", code == 0 and not differences(report), f"{code} {differences(report)} {errors}")
        others = {one for one in proxy.requests if one[0] != "GET" and not (one[0] == "POST" and one[1].endswith("/oauth/token"))}
        world.check(40, "only GET and the token request are sent", proxy.requests and not others, others)
        world.check(40, f"at most {PARALLEL} requests are open", 0 < proxy.most <= PARALLEL, proxy.most)
        code, report, errors = compare(place, own, other, *only)
        world.check(38, "with four changes it ends with 3", code == 3, f"{code} {errors}")
        four(world, report, "")
        text = json.dumps(report)
        world.check(40, "the report has no texts and addresses of people", "Main Street" not in text and "@riverton" not in text)
        record = place.directory / "recorded"
        code, _, errors = compare(place, own, own, *only, "--record", record)
        world.check(38, "old answers are recorded", code == 0 and record.exists(), errors)
        code, report, errors = compare(place, own, other, *only, "--replay", record)
        world.check(38, "with recorded answers it ends with 3", code == 3, f"{code} {errors}")
        four(world, report, "recorded: ")
        code, report, errors = compare(place, shaped.address, own, *only)
        world.check(39, "answers in the shapes of the module differ as expected only", code == 0, f"{code} {differences(report)} {errors}")
        code, report, errors = compare(place, shaped.address, own, *only, "--strict")
        world.check(39, "with --strict they are differences", code == 3, f"{code} {errors}")


def four(world, report, prefix):
    """The four differences, and no others."""
    found = {group: result for (_, group), result in differences(report).items()}
    only_old, only_new, different, members = found.get("proposals", ([], [], 0, []))
    world.check(38, f"{prefix}the changed title and the other state are reported", different == 2 and not only_old + only_new
                and "attributes.title.en" in members and any("state" in member for member in members), found)
    world.check(38, f"{prefix}the missing vote is reported", found.get("votes", ())[:3] == (["2"], [], 0), found)
    only_old, only_new, different, _ = found.get("meetings", ([], [], 0, []))
    world.check(38, f"{prefix}the extra meeting is reported", (len(only_old), len(only_new), different) == (0, 1, 0), found)
    world.check(38, f"{prefix}nothing else is", found.keys() == {"proposals", "votes", "meetings"}, found)
