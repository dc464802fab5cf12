"""Tests against a server. `clients/run` starts it and sets the variables CIVITAS_TEST_*."""
import dataclasses
import importlib
import inspect
import io
import json
import os
import pkgutil
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from uuid import uuid4

import civitas_client
import httpx
from civitas_client import Client, verify_webhook
from civitas_client.generated import api
from civitas_client.generated.api.attachments import attachments_direct_upload, upload_attachment_bytes
from civitas_client.generated.api.draft_proposals import create_draft_proposal_sync, publish_draft_proposal_async
from civitas_client.generated.api.o_auth import revoke_token
from civitas_client.generated.api.proposals import cast_proposal_vote, cast_proposal_vote_async, get_proposal
from civitas_client.generated.api.proposals import list_proposals
from civitas_client.generated.api.users import generate_magic_link
from civitas_client.generated.api.webhooks import create_webhook_registration, delete_webhook_registration
from civitas_client.generated.models import (
    AttachmentsDirectUploadBody,
    DraftProposalCreateBody,
    GenerateMagicLinkGenerateMagicLinkPayload,
    RevokeBody,
    VoteProposalCreateBody,
    VoteProposalItemResponse,
    WebhookRegistrationCreateBody,
)
from civitas_client.generated.types import File

URL, SECRET = os.environ["CIVITAS_TEST_URL"], os.environ["CIVITAS_TEST_SECRET"]
COMPONENT, PROPOSALS = int(os.environ["CIVITAS_TEST_COMPONENT"]), int(os.environ["CIVITAS_TEST_PROPOSALS"])
TOKEN_LIFETIME = float(os.environ["CIVITAS_TEST_TOKEN_LIFETIME"])
REGISTER = {"register_on_missing": True, "skip_confirmation_on_register": True}
SCOPES = ("public", "proposals", "oauth", "webhooks")
FULL_SCOPES = (*SCOPES, "system", "roles", "attachments", "blogs", "meetings", "surveys")


def user_name():
    return f"py_{uuid4().hex[:12]}"


class TestCase(unittest.TestCase):
    """Closes the clients of a test."""

    def client(self, scopes=SCOPES, client_id="tests-full", secret=SECRET, **options):
        return self.enterContext(Client(URL, client_id, secret, scopes, **options))

    def user(self):
        """A client for a new user."""
        return self.client(username=user_name(), meta=REGISTER)

    def recording(self, **options):
        """A client, and the list of method, path and status of each answer that it receives."""
        answers = []
        record = lambda answer: answers.append((answer.request.method, answer.request.url.path, answer.status_code))
        return self.client(event_hooks={"response": [record]}, **options), answers

    def proposals(self, count=1):
        """Ids of proposals that accept votes."""
        page = list_proposals.sync(client=self.client(), component_id=COMPONENT, per_page=count)
        return [proposal.id for proposal in page.data]


def vote(proposal, weight=1):
    return VoteProposalCreateBody.from_dict({"proposal_id": int(proposal), "data": {"weight": weight}})


class Tokens(TestCase):
    def test_one_token_serves_many_requests(self):
        service, answers = self.recording()
        for _ in range(3):
            list_proposals.sync(client=service, per_page=1)
        self.assertEqual([path for _, path, _ in answers].count("/api/rest_full/v0.3/oauth/token"), 1)

    def test_a_token_is_renewed_before_it_expires(self):
        service, answers = self.recording()
        list_proposals.sync(client=service, per_page=1)
        before = service.access_token()
        time.sleep(0.9 * TOKEN_LIFETIME)
        list_proposals.sync(client=service, per_page=2)
        self.assertNotEqual(service.access_token(), before)
        self.assertNotIn(401, [status for _, _, status in answers])

    def test_a_revoked_token_is_renewed_once(self):
        service, answers = self.recording()
        token = service.access_token()
        body = {"token": token, "client_id": "tests-full", "client_secret": SECRET}
        revoke_token.sync(client=service, body=RevokeBody.from_dict(body))
        answers.clear()
        self.assertEqual(len(list_proposals.sync(client=service, per_page=1).data), 1)
        self.assertEqual([status for _, _, status in answers], [401, 200, 200])

    def test_a_request_with_a_body_is_sent_again_after_a_401(self):
        author, answers = self.recording(username=user_name(), meta=REGISTER)
        body = {"token": author.access_token(), "client_id": "tests-full", "client_secret": SECRET}
        revoke_token.sync(client=author, body=RevokeBody.from_dict(body))
        answers.clear()
        draft = DraftProposalCreateBody.from_dict({"data": {"component_id": COMPONENT}})
        self.assertEqual(create_draft_proposal_sync.sync(client=author, body=draft).data.type_, "draft_proposal")
        self.assertEqual([status for _, _, status in answers], [401, 200, 200])

    def test_threads_share_one_token(self):
        service, answers = self.recording()
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda size: list_proposals.sync(client=service, per_page=size), range(1, 9)))
        self.assertEqual(len([path for _, path, _ in answers if path.endswith("/oauth/token")]), 1)

    def test_scopes_and_words_may_be_plain_texts(self):
        service = self.client(scopes="public proposals")
        page = list_proposals.sync(client=service, component_id=COMPONENT, per_page=1, locales=["fr"], order="rand")
        self.assertEqual((len(page.data), page.data[0].attributes.title.to_dict()), (1, {}))
        with self.assertRaises(civitas_client.BadRequest) as caught:
            list_proposals.sync(client=service, locales=["xx"])
        self.assertEqual(caught.exception.description, "Not allowed locales: xx")

    def test_a_wrong_secret(self):
        with self.assertRaises(civitas_client.Unauthorized) as caught:
            self.client(secret="wrong-" + SECRET).access_token()
        self.assertEqual(caught.exception.error, "invalid_client")
        self.assertNotIn(SECRET, str(caught.exception))

    def test_the_token_is_not_sent_to_other_hosts(self):
        with Receiver() as receiver:
            self.client().get_httpx_client().get(receiver.url)
            headers, _ = receiver.requests.get(timeout=10)
        self.assertNotIn("authorization", headers)


class Uploads(TestCase):
    def test_bytes_of_any_type_are_sent(self):
        service = self.client(scopes=["attachments"])
        announced = {"filename": "note.txt", "byte_size": 12, "checksum": "b1kCrCNwJL3QwXbLkwY9xA==", "content_type": "text/plain"}
        upload = attachments_direct_upload.sync(client=service, body=AttachmentsDirectUploadBody.from_dict(announced))
        sent = upload_attachment_bytes.sync_detailed(upload.signed_id, client=service, body=File(io.BytesIO(b"hello world\n")))
        self.assertEqual(sent.status_code, 204)


class Votes(TestCase):
    def test_a_vote(self):
        (proposal,) = self.proposals()
        voter = self.user()
        cast = cast_proposal_vote.sync(client=voter, body=vote(proposal))
        self.assertEqual(cast.data.attributes.weight, 1)
        with self.assertRaises(civitas_client.BadRequest) as caught:
            cast_proposal_vote.sync(client=voter, body=vote(proposal))
        self.assertEqual(caught.exception.description, "Already voted")

    def test_a_repeated_write_has_one_effect(self):
        (proposal,) = self.proposals()
        voter, key = self.user(), uuid4().hex
        send = lambda weight: cast_proposal_vote.sync(client=voter, body=vote(proposal, weight), idempotency_key=key)
        self.assertEqual(send(1).data.id, send(1).data.id)
        with self.assertRaises(civitas_client.Unprocessable) as caught:
            send(-1)
        self.assertEqual(caught.exception.description, "Idempotency-Key was used for another request")

    def test_a_vote_as_a_job(self):
        (proposal,) = self.proposals()
        voter = self.user()
        job = voter.wait(cast_proposal_vote_async.sync(client=voter, body=vote(proposal)), timeout=30)
        cast = VoteProposalItemResponse.from_dict(job.data)
        self.assertEqual(cast.data.relationships.proposal.data.id, proposal)

    def test_a_job_that_fails(self):
        (proposal,) = self.proposals()
        voter = self.user()
        accepted = cast_proposal_vote_async.sync(client=voter, body=vote(proposal, weight=99))
        with self.assertRaises(civitas_client.JobFailed) as caught:
            voter.wait(accepted.job_id)
        self.assertEqual(caught.exception.error_class, "BadRequest")
        self.assertIn("Weight", caught.exception.message)

    def test_a_job_that_fails_with_details(self):
        author = self.user()
        body = DraftProposalCreateBody.from_dict({"data": {"component_id": COMPONENT}})
        draft = create_draft_proposal_sync.sync(client=author, body=body)
        accepted = publish_draft_proposal_async.sync(int(draft.data.id), client=author)
        with self.assertRaises(civitas_client.JobFailed) as caught:
            author.wait(str(accepted.job_id))
        codes = [(detail.field, detail.code) for detail in caught.exception.details]
        self.assertEqual(codes, [("title", "blank"), ("body", "blank")])


class Pages(TestCase):
    def test_pages_through_all_proposals(self):
        service = self.client()
        pages = list(service.pages(list_proposals.sync, component_id=COMPONENT, per_page=50))
        self.assertEqual([len(page.data) for page in pages], [50, 50, 50, 50, 5])
        self.assertEqual(len({proposal.id for page in pages for proposal in page.data}), PROPOSALS)

    def test_items_of_all_pages(self):
        service = self.client()
        found = [item.id for item in service.items(list_proposals.sync, component_id=COMPONENT)]
        self.assertEqual(len(set(found)), PROPOSALS)
        self.assertEqual(len(found), PROPOSALS)

    def test_filters(self):
        few = [int(proposal) for proposal in self.proposals(3)]
        service = self.client()
        found = list(service.items(list_proposals.sync, filter_id_in=few))
        self.assertEqual(sorted(int(proposal.id) for proposal in found), sorted(few))

    def test_typed_filters_orders_and_totals(self):
        service, published = self.client(), datetime(2026, 2, 2, 9, tzinfo=UTC)
        for total, filters in (
            (PROPOSALS, {}),
            (6, {"filter_title_cont": "NUMBER 20"}),
            (PROPOSALS, {"filter_search_text_cont": "bénch", "filter_id_blank": False}),
            (PROPOSALS, {"filter_published_at_in": [published, published + timedelta(days=1)]}),
            (PROPOSALS, {"filter_published_at_lteq": published.astimezone(timezone(timedelta(hours=5)))}),
            (0, {"filter_published_at_gt": published}),
        ):
            with self.subTest(filters):
                self.assertEqual(service.total(list_proposals, component_id=COMPONENT, **filters), total)
        arguments = {"component_id": COMPONENT, "order": "id", "order_direction": "desc", "per_page": 50}
        found = [int(proposal.id) for proposal in service.items(list_proposals, **arguments)]
        self.assertEqual((len(found), found), (PROPOSALS, sorted(found, reverse=True)))
        answer = list_proposals.sync_detailed(client=service, component_id=COMPONENT, prefer="count=exact")
        self.assertEqual(answer.headers["Total"], str(PROPOSALS))

    def test_pages_follow_links_to_their_end(self):
        link = '<https://other.example/elsewhere?page=1>; rel="first", <https://other.example/x?after=2&a%5B%5D=b>; rel="next"'
        for name, headers, following in (
            ("Link", {"Link": link}, "after=2&a%5B%5D=b"),
            ("meta.next", {}, "page=7&a%5B%5D=c"),
        ):
            with self.subTest(name):
                service, sent = self.listing(headers, "https://city.example/y?page=7&a[]=c")
                parameters = {"per_page": 2, "filter_title_cont": "é", "filter_id_in": [1, 2]}
                self.assertEqual(len(list(service.pages(list_proposals, **parameters))), 2)
                first, second = (request.url for request in sent)
                self.assertEqual(first.params.get_list("filter[id_in][]"), ["1", "2"])
                self.assertEqual((first.params["filter[title_cont]"], first.params["per_page"]), ("é", "2"))
                self.assertEqual(second.params, httpx.QueryParams(following))
                self.assertEqual((second.host, second.path), ("city.example", first.path))

    def test_a_total_is_that_of_the_header(self):
        service, sent = self.listing({"Total": "12345"}, None)
        self.assertEqual(service.total(list_proposals, filter_title_cont="bench", per_page=50), 12345)
        (request,) = sent
        self.assertEqual((request.headers["Prefer"], request.url.params["per_page"]), ("count=exact", "1"))
        with self.assertRaises(civitas_client.CivitasError):
            self.listing({}, None)[0].total(list_proposals)

    def listing(self, headers, following):
        """A client of a list of two pages, the second one empty and the last, and the list of requests it receives."""
        sent = []

        def answer(request):
            if request.url.path.endswith("/oauth/token"):
                return httpx.Response(200, json={"access_token": "a", "expires_in": 7200})
            is_last = bool(sent) or following is None
            sent.append(request)
            meta = {"page": 1, "per_page": 2, "has_more": not is_last, "next": None if is_last else following, "prev": None}
            return httpx.Response(200, json={"data": [], "meta": meta}, headers={} if len(sent) > 1 else headers)

        options = {"transport": httpx.MockTransport(answer)}
        return self.enterContext(Client("https://city.example", "id", SECRET, **options)), sent

    def test_every_list_is_parsed(self):
        """Calls each list of the generated code that has no required parameter."""
        called = 0
        service = self.client(FULL_SCOPES)
        for module in pkgutil.walk_packages(api.__path__, api.__name__ + "."):
            operation = importlib.import_module(module.name)
            parameters = inspect.signature(operation.sync).parameters if hasattr(operation, "sync") else {}
            if "per_page" not in parameters or any(
                given.default is given.empty and name != "client" for name, given in parameters.items()
            ):
                continue
            with self.subTest(module.name):
                try:
                    found = [record for page in service.pages(operation) for record in page.data]
                    self.assertEqual(service.total(operation), len(found))
                    called += 1
                except civitas_client.BadRequest as error:
                    self.assertIn("required", error.description)
        self.assertGreater(called, 15)


class ConditionalGet(TestCase):
    def test_an_unchanged_answer_comes_from_the_cache(self):
        (proposal,) = self.proposals()
        service, answers = self.recording()
        first = get_proposal.sync_detailed(int(proposal), client=service)
        second = get_proposal.sync_detailed(int(proposal), client=service)
        self.assertEqual([status for method, _, status in answers if method == "GET"], [200, 304])
        self.assertEqual((second.status_code, second.content, second.parsed), (200, first.content, first.parsed))
        self.assertIn("hit", second.headers["Cache-Status"])

    def test_a_changed_answer_is_read_again(self):
        (proposal,) = self.proposals()
        voter, answers = self.recording(username=user_name(), meta=REGISTER)
        get_proposal.sync(int(proposal), client=voter)
        cast_proposal_vote.sync(client=voter, body=vote(proposal))
        self.assertEqual(get_proposal.sync(int(proposal), client=voter).data.meta.voted.weight, 1)
        self.assertEqual([status for method, _, status in answers if method == "GET"], [200, 200])

    def test_the_cache_is_bounded(self):
        (proposal,) = self.proposals()
        service, answers = self.recording(cache_bytes=0)
        for _ in range(2):
            get_proposal.sync(int(proposal), client=service)
        self.assertEqual([status for method, _, status in answers if method == "GET"], [200, 200])


class Errors(TestCase):
    def test_not_found(self):
        service = self.client()
        with self.assertRaises(civitas_client.NotFound) as caught:
            get_proposal.sync(999_999_999, client=service)
        error = caught.exception
        self.assertEqual((error.status, error.error, error.method), (404, "404: Resource not found", "GET"))
        self.assertTrue(error.url.endswith("/proposals/999999999"))

    def test_forbidden(self):
        service = self.client(["public", "proposals"], "tests-public")
        with self.assertRaises(civitas_client.Forbidden):
            list_proposals.sync(client=service)

    def test_unprocessable_with_details(self):
        body = GenerateMagicLinkGenerateMagicLinkPayload.from_dict({"data": {"redirect_url": "http://localhost/"}})
        someone = self.user()
        with self.assertRaises(civitas_client.Unprocessable) as caught:
            generate_magic_link.sync(client=someone, body=body)
        (detail,) = caught.exception.details
        self.assertEqual(detail.code, "https_only")

    def test_an_unknown_scope(self):
        with self.assertRaises(civitas_client.BadRequest) as caught:
            self.client(["unknown"]).access_token()
        self.assertEqual(caught.exception.error, "invalid_scope")


class Receiver:
    """An HTTP server that stores headers and body of each request."""

    def __enter__(self):
        requests = self.requests = Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                requests.put(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(204)
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Webhooks(TestCase):
    def test_a_delivery(self):
        service = self.client()
        with Receiver() as receiver:
            attributes = {"url": receiver.url, "subscriptions": ["user.created"]}
            body = WebhookRegistrationCreateBody.from_dict({"data": {"attributes": attributes}})
            registration = create_webhook_registration.sync(client=service, body=body).data
            try:
                name = user_name()
                self.client(username=name, meta=REGISTER).access_token()
                self.check(*self.delivery_of(receiver, name), registration.attributes.signing_secret, name)
            finally:
                delete_webhook_registration.sync_detailed(registration.id, client=service)

    def delivery_of(self, receiver, name):
        """The delivery about this user. Other tests may register users at the same time."""
        while True:
            headers, body = receiver.requests.get(timeout=20)
            if json.loads(body)["data"]["attributes"]["nickname"] == name:
                return headers, body

    def check(self, headers, body, secret, name):
        event = verify_webhook(headers, body, secret)
        self.assertEqual((event.type, event.data["attributes"]["nickname"]), ("user.created", name))
        self.assertEqual(event.id, headers["x-webhook-id"])
        at = event.timestamp
        for case, arguments in {
            "a changed body": (headers, body.replace(name.encode(), b"somebody_else"), secret, at),
            "a body written again": (headers, json.dumps(json.loads(body)).encode(), secret, at),
            "another secret": (headers, body, "0" * 64, at),
            "a changed timestamp": ({**headers, "x-webhook-timestamp": str(at + 1)}, body, secret, at),
            "no signature": ({**headers, "x-webhook-signature": ""}, body, secret, at),
            "no ASCII": ({**headers, "x-webhook-signature": "v1=\xff"}, body, secret, at),
            "no headers": ({}, body, secret, at),
            "a stale timestamp": (headers, body, secret, at + 301),
            "a timestamp in the future": (headers, body, secret, at - 301),
        }.items():
            with self.subTest(case), self.assertRaises(civitas_client.WebhookVerificationError):
                verify_webhook(*arguments)
        self.assertEqual(verify_webhook(headers, body, secret, at + 300), event)

    def test_the_vector_of_the_interface(self):
        body = '{"type":"proposal_creation.succeeded","data":{"id":"42","type":"proposal","attributes":{"title":'
        body += '{"en":"Café & bikes"}}}}'
        headers = {"X-Webhook-Id": str(uuid4()), "X-Webhook-Timestamp": "1767225600"}
        headers["X-Webhook-Signature"] = "v1=85c2654024aa8ba30b9bd2fe85d551b001194ce31dfeb3d8b1e89cf42381d966"
        secret = "8f2a1c4e6b7d90315a2f4c6e8b0d1f3a5c7e9b1d3f5a7c9e0b2d4f6a8c0e2f4a"
        event = verify_webhook(headers, body.encode(), secret, 1767225600)
        self.assertEqual(dataclasses.astuple(event)[2], "proposal_creation.succeeded")


if __name__ == "__main__":
    unittest.main()
