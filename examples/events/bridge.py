#!/usr/bin/env python3
"""Pulls events from Civitas and posts each to an address, or prints it on a line: bridge.py CURSOR_FILE [ADDRESS]

An event is a CloudEvent 1.0 in JSON (`Content-Type: application/cloudevents+json`). CURSOR_FILE has the id of the last event
that was printed, or that ADDRESS answered with 2xx. An event whose id was not written yet is sent again: deduplicate by `id`.
Events are sent one after another, in order; one that is refused is sent again every 5 s.

CIVITAS_ORIGIN is the address of the organization (https://city.example). CIVITAS_CLIENT_ID and CIVITAS_CLIENT_SECRET are those
of an API client with the scope `webhooks` and the ability `webhooks.read`.
"""
import json
import os
import sys
import time
from http.client import HTTPException
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

PAUSE_SECONDS, TIMEOUT_SECONDS = 5, 30
FAULTS = (OSError, HTTPException)


class NoRedirects(HTTPRedirectHandler):
    # A redirect is an error: the event would be lost, because it is followed with GET.
    redirect_request = lambda *_: None


def send(address, body=None, **headers):
    """Returns the body of an answer 2xx; raises one of FAULTS for any other."""
    request = Request(address, body, {name.replace("_", "-"): value for name, value in headers.items()})
    with build_opener(NoRedirects).open(request, timeout=TIMEOUT_SECONDS) as answer:
        return answer.read()


def new_token():
    form = {"grant_type": "client_credentials", "scope": "webhooks", "client_id": os.environ["CIVITAS_CLIENT_ID"],
            "client_secret": os.environ["CIVITAS_CLIENT_SECRET"]}
    return json.loads(send(os.environ["CIVITAS_ORIGIN"] + "/oauth/token", urlencode(form).encode()))["access_token"]


def pages(cursor):
    """Yields lists of events, each event as its line. They continue after the last event of the list before."""
    token = None
    while True:
        try:
            token = token or new_token()
            query = urlencode({"after": cursor, "format": "ndjson"})
            address = f"{os.environ['CIVITAS_ORIGIN']}/api/rest_full/v0.3/events?{query}"
            events = send(address, Authorization=f"Bearer {token}").splitlines()
        except FAULTS as fault:
            status = getattr(fault, "code", 503)
            if status == 410:
                print(f"{cursor} is not stored any more: continues with the oldest event", file=sys.stderr)
                cursor = ""
            elif status == 401 and token:
                token = None
                time.sleep(PAUSE_SECONDS)
            elif status == 429 or status >= 500:
                print(f"Civitas: {fault}", file=sys.stderr)
                time.sleep(PAUSE_SECONDS)
            else:
                sys.exit(f"Civitas: {fault}: {fault.read().decode()}")
            continue
        yield events
        if events:
            cursor = json.loads(events[-1])["id"]
        else:
            time.sleep(PAUSE_SECONDS)


def deliver(event, address):
    if address is None:
        sys.stdout.buffer.write(event + b"\n")
        return sys.stdout.buffer.flush()
    while True:
        try:
            return send(address, event, Content_Type="application/cloudevents+json")
        except FAULTS as fault:
            print(f"{address}: {fault}", file=sys.stderr)
            time.sleep(PAUSE_SECONDS)


def store(cursor, file):
    with open(file + ".new", "w") as new:
        new.write(cursor)
        new.flush()
        os.fsync(new.fileno())
    os.replace(file + ".new", file)


def main(file, address=None):
    cursor = open(file).read().strip() if os.path.exists(file) else ""
    for events in pages(cursor):
        for event in events:
            deliver(event, address)
            store(json.loads(event)["id"], file)


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) in (2, 3) else sys.exit(__doc__)
