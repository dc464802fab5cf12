// Uses the token endpoints with openid-client. `run` calls it; each check is a line that begins with `ok` or `FAILED`.
import { webcrypto } from "node:crypto";

// Node.js 18 has it as a module only.
globalThis.crypto ??= webcrypto;
const oauth = await import("openid-client");

const { CIVITAS_TEST_URL: url, CIVITAS_TEST_SECRET: secret } = process.env;
const options = { algorithm: "oauth2", execute: [oauth.allowInsecureRequests] };
const scope = "public proposals";
let failed = 0;

function check(name, holds, detail = "") {
  failed += holds ? 0 : 1;
  console.log(`${holds ? "ok    " : "FAILED"} openid-client: ${name}${holds ? "" : `: ${JSON.stringify(detail)}`}`);
}

function configuration(authentication) {
  return oauth.discovery(new URL(url), "tests-full", undefined, authentication, options);
}

function call(configuration, token) {
  const address = new URL(`${url}/api/rest_full/v0.3/proposals`);
  return oauth.fetchProtectedResource(configuration, token, address, "GET");
}

// The code in the body of an error, or what happened instead.
function codeOf(promise) {
  return promise.then(() => "no error", async (error) => (await error.response?.json())?.error ?? String(error));
}

async function checkClientCredentials(name, configuration) {
  const token = await oauth.clientCredentialsGrant(configuration, { scope });
  check(`${name}: client credentials give a token`, token.token_type === "bearer" && token.expires_in === 600, token);
  const listed = await (await call(configuration, token.access_token)).json();
  check(`${name}: the token calls an operation`, listed.data?.length > 0, listed);
  const seen = await oauth.tokenIntrospection(configuration, token.access_token);
  check(`${name}: the client introspects its token`, seen.active && seen.client_id === "tests-full", seen);
  await oauth.tokenRevocation(configuration, token.access_token);
  const revoked = await oauth.tokenIntrospection(configuration, token.access_token);
  check(`${name}: a revoked token is not active`, revoked.active === false, revoked);
  const refused = await codeOf(call(configuration, token.access_token));
  check(`${name}: a revoked token is refused`, refused === "401: Unauthorized access", refused);
}

// Impersonation ignores the password, which libraries send with this grant.
async function checkPassword(name, configuration) {
  const members = { auth_type: "impersonate", username: "nora_blum", password: "any", scope };
  const token = await oauth.genericGrantRequest(configuration, "password", members);
  const seen = await oauth.tokenIntrospection(configuration, token.access_token);
  check(`${name}: a password grant gives a token of the user`, seen.resource?.type === "user", seen);
}

for (const [name, authentication] of [
  ["client_secret_basic", oauth.ClientSecretBasic(secret)],
  ["client_secret_post", oauth.ClientSecretPost(secret)],
]) {
  const found = await configuration(authentication);
  const server = found.serverMetadata();
  check(`${name}: the metadata is found`, server.token_endpoint === `${url}/oauth/token`, server);
  await checkClientCredentials(name, found);
  await checkPassword(name, found);
}
const wrong = await configuration(oauth.ClientSecretBasic("wrong"));
const refused = await codeOf(oauth.clientCredentialsGrant(wrong, { scope }));
check("a wrong secret is an error", refused === "invalid_client", refused);
const blind = await codeOf(oauth.tokenIntrospection(wrong, "unknown"));
check("a wrong secret cannot introspect", blind === "invalid_client", blind);
process.exit(failed > 0 ? 1 : 0);
