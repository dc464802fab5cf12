// Calls: the token, the address, the curl line, the answer.

const base = location.pathname.replace(/\/docs(\/(index\.html)?)?$/, "");
const TOKEN = "civitas.token";
let token = "";

function remember(text, label) {
  token = text.trim();
  try {
    if (token) sessionStorage.setItem(TOKEN, token);
    else sessionStorage.removeItem(TOKEN);
  } catch { /* A tab that may keep nothing still works. */ }
  document.getElementById("token").value = token;
  document.getElementById("token-state").textContent = token ? label || "Token set" : "No token";
}

/** What is sent: address, method, headers, body. */
function requestOf(method, operation, path, values, body) {
  const query = new URLSearchParams();
  let target = path;
  for (const { parameter, read } of values) {
    const given = read();
    if (parameter.in === "path") target = target.replace(`{${parameter.name}}`, encodeURIComponent(given[0] || ""));
    else if (parameter.in === "query") given.forEach((value) => query.append(parameter.name, value));
  }
  const headers = { Accept: "application/json" };
  if (token && (operation.security || []).length) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  const behind = query.toString();
  return { url: location.origin + base + target + (behind ? `?${behind}` : ""), method, headers, body };
}

function quoted(text) {
  return `'${String(text).replaceAll("'", "'\\''")}'`;
}

function curlOf(request) {
  const parts = ["curl -sS"];
  if (request.method !== "GET") parts[0] += ` -X ${request.method}`;
  parts.push(quoted(request.url));
  for (const [name, value] of Object.entries(request.headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (request.body) parts.push(`-d ${quoted(request.body)}`);
  return parts.join(" \\\n  ");
}

/** Sends it and shows what comes back. */
async function send(request, into) {
  into.replaceChildren(el("p", { class: "hint" }, "Asking .."));
  const began = performance.now();
  try {
    const { url, method, headers, body } = request;
    const response = await fetch(url, { method, headers, body: body || undefined, cache: "no-store" });
    const text = await response.text();
    show(request, response, text, Math.round(performance.now() - began), into);
  } catch (error) {
    into.replaceChildren(
      el("p", { class: "bad", role: "alert" }, `No answer: ${error.message}`), copyable(curlOf(request)));
  }
}

function show(request, response, text, milliseconds, into) {
  let body = text;
  let read = null;
  try {
    read = JSON.parse(text);
    body = JSON.stringify(read, null, 2);
  } catch { /* No JSON: shown as it is. */ }
  const status = el("p", {},
    el("span", { class: `status ${response.ok ? "good" : "bad"}` }, `${response.status} ${response.statusText}`),
    el("span", { class: "kind" }, ` in ${milliseconds} ms`));
  const headers = [...response.headers].flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
  const job = read && typeof read === "object" && read.job_id;
  into.replaceChildren(
    el("h3", {}, "Answer"), status,
    job ? el("p", {}, el("button", { type: "button", onclick: () => follow(job) }, "Show this job")) : "",
    body ? copyable(body) : el("p", { class: "hint" }, "No body."),
    folded("Headers", () => el("dl", { class: "headers" }, headers)),
    el("h3", {}, "The same with curl"), copyable(curlOf(request)));
  into.focus({ preventScroll: true });
}

/** Opens the job operation with this id, and asks. */
function follow(job) {
  const operation = reveal("getJob");
  if (!operation) return;
  const field = operation.querySelector("[name=id]");
  field.value = job;
  field.form.requestSubmit();
}

/** The form that gets a token. */
function tokenForm(form) {
  const fields = form.elements;
  const answer = document.getElementById("token-answer");
  const arrange = () => form.querySelectorAll("[data-flows]").forEach((label) => {
    label.hidden = !label.dataset.flows.split(" ").includes(fields.flow.value);
  });
  fields.flow.addEventListener("change", arrange);
  arrange();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const sent = Object.fromEntries(["client_id", "client_secret", "scope"].map((name) => [name, fields[name].value]));
    const flow = fields.flow.value;
    sent.grant_type = flow === "client" ? "client_credentials" : "password";
    if (flow !== "client") Object.assign(sent, { auth_type: flow, username: fields.username.value });
    if (flow === "login") sent.password = fields.password.value;
    if (flow === "impersonate" && fields.register.checked) sent.meta = { register_on_missing: true };
    answer.textContent = "Asking ..";
    answer.className = "";
    try {
      const headers = { "Content-Type": "application/json" };
      const response = await fetch(`${base}/oauth/token`, { method: "POST", headers, body: JSON.stringify(sent) });
      const read = await response.json();
      if (!response.ok) throw new Error(read.error_description || read.error || response.status);
      remember(read.access_token, `Token: ${read.scope}`);
      answer.className = "good";
      answer.textContent = `Got one with ${read.scope}; it counts for ${Math.round(read.expires_in / 60)} minutes.`;
    } catch (error) {
      answer.textContent = error.message;
    }
  });
}
