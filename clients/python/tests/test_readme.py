"""Runs the examples of README.md against the server of the tests."""
import contextlib
import hashlib
import hmac
import io
import re
import time
import types
import unittest
from pathlib import Path

from test_client import COMPONENT, PROPOSALS, SECRET, URL, TestCase

README = Path(__file__).resolve().parent.parent / "README.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.M | re.S)
SIGNING_SECRET = "0123456789abcdef"


def delivery():
    """A request with a webhook."""
    body, at = b'{"type":"user.created","data":{"id":"17","type":"user"}}', str(int(time.time()))
    signature = hmac.new(SIGNING_SECRET.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    headers = {"X-Webhook-Id": "1", "X-Webhook-Timestamp": at, "X-Webhook-Signature": f"v1={signature}"}
    return types.SimpleNamespace(headers=headers, body=body)


class Examples(TestCase):
    def run_example(self, number, replaced, **names):
        """The lines that an example prints. `replaced`: what stands in the example, and what takes its place."""
        code = EXAMPLES[number]
        for old, new in replaced.items():
            self.assertIn(old, code)
            code = code.replace(old, new)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, f"example {number} of README.md", "exec"), names)
        return output.getvalue().splitlines()

    def test_there_are_as_many_examples_as_tests(self):
        self.assertEqual(len(EXAMPLES), 4)

    def test_titles_of_proposals_are_printed(self):
        replaced = {"https://city.example": URL, "my-client": "tests-full", "my-secret": SECRET,
                    "component_id=3": f"component_id={COMPONENT}"}
        lines = self.run_example(0, replaced)
        self.assertEqual(len(lines), PROPOSALS)
        self.assertRegex(lines[0], r"^\d+ Bench number \d+$")

    def test_proposals_with_a_word_are_counted_and_printed(self):
        replaced = {'"bench"': f'"NUMBER 20", component_id={COMPONENT}'}
        lines = self.run_example(1, replaced, client=self.client())
        self.assertEqual((len(lines), lines[0]), (7, "6"))
        self.assertRegex(lines[1], r"^\d+ Bench number 20\d?$")

    def test_a_vote_is_cast_by_a_job(self):
        (proposal,) = self.proposals()
        lines = self.run_example(2, {'"proposal_id": 19': f'"proposal_id": {proposal}'}, client=self.user())
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], r"^\d+$", "the id of the vote")

    def test_a_webhook_is_verified(self):
        lines = self.run_example(3, {}, request=delivery(), signing_secret=SIGNING_SECRET)
        self.assertEqual(lines, ["user.created"])


if __name__ == "__main__":
    unittest.main()
