"""Uses the token endpoints with authlib. `run` calls it; each check is a line that begins with `ok` or `FAILED`."""
import os
import sys

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url

URL, SECRET = os.environ["CIVITAS_TEST_URL"], os.environ["CIVITAS_TEST_SECRET"]
TIMEOUT_SECONDS = 60
METHODS = ("client_secret_basic", "client_secret_post")
COUNTS = {"passed": 0, "failed": 0}


def check(name, holds, detail=""):
    COUNTS["passed" if holds else "failed"] += 1
    print(f"{'ok    ' if holds else 'FAILED'} authlib: {name}{'' if holds else f': {detail}'}", flush=True)


def session(method="client_secret_basic", secret=SECRET):
    return OAuth2Session("tests-full", secret, token_endpoint_auth_method=method, scope="public proposals",
                         default_timeout=TIMEOUT_SECONDS)


def introspected(metadata, client, token):
    return client.introspect_token(metadata["introspection_endpoint"], token=token).json()


def check_metadata(metadata):
    # The other rules are about https, which this server does not speak, and about an authorization endpoint, which there is
    # none. Therefore `response_types_supported` is empty, and authlib calls it missing.
    metadata.validate_grant_types_supported()
    for endpoint in ("token", "introspection", "revocation"):
        getattr(metadata, f"validate_{endpoint}_endpoint_auth_methods_supported")()
    check("the metadata is that of the address", metadata["issuer"] == URL, metadata)
    check("it has both ways of authentication", metadata["token_endpoint_auth_methods_supported"] == list(METHODS))


def check_client_credentials(metadata, method):
    client = session(method)
    token = client.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")
    check(f"{method}: client credentials give a token", token["token_type"] == "Bearer" and token["expires_in"] == 600)
    listed = client.get(f"{URL}/api/rest_full/v0.3/proposals")
    check(f"{method}: the session calls an operation", listed.status_code == 200 and listed.json()["data"], listed.text)
    seen = introspected(metadata, client, token["access_token"])
    check(f"{method}: the client introspects its token", seen["active"] and seen["client_id"] == "tests-full", seen)
    revoked = client.revoke_token(metadata["revocation_endpoint"], token=token["access_token"])
    check(f"{method}: revocation answers 200", revoked.status_code == 200, revoked.text)
    seen = introspected(metadata, client, token["access_token"])
    check(f"{method}: a revoked token is not active", seen == {"active": False}, seen)
    listed = requests.get(f"{URL}/api/rest_full/v0.3/proposals", timeout=TIMEOUT_SECONDS,
                          headers={"Authorization": f"Bearer {token['access_token']}"})
    check(f"{method}: a revoked token is refused", listed.status_code == 401, listed.text)


def check_password(metadata, method):
    """The library sends `password` with this grant; impersonation ignores it."""
    client = session(method)
    token = client.fetch_token(metadata["token_endpoint"], username="nora_blum", password="any",
                               grant_type="password", auth_type="impersonate")
    seen = introspected(metadata, client, token["access_token"])
    check(f"{method}: a password grant gives a token of the user", seen["resource"]["type"] == "user", seen)


def check_refusals(metadata):
    client = session(secret="wrong")
    try:
        client.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")
        check("a wrong secret is an error", False, "a token was issued")
    except OAuthError as error:
        check("a wrong secret is an error", error.error == "invalid_client", error)
    answer = client.introspect_token(metadata["introspection_endpoint"], token="unknown")
    check("a wrong secret cannot introspect", answer.status_code == 401, answer.text)


address = get_well_known_url(URL, external=True, suffix="oauth-authorization-server")
metadata = AuthorizationServerMetadata(requests.get(address, timeout=TIMEOUT_SECONDS).json())
check_metadata(metadata)
for method in METHODS:
    check_client_credentials(metadata, method)
    check_password(metadata, method)
check_refusals(metadata)
sys.exit(COUNTS["failed"] > 0)
