// Reads the document, lays the page out, finds things.

let entries = [];

/** Opens a card and goes to it. */
function reveal(id) {
  const entry = entries.find((one) => one.id === id);
  if (!entry) return null;
  if (entry.card.hidden) search(document.getElementById("search").value = "");
  entry.card.open = true;
  entry.card.fill();
  entry.card.scrollIntoView({ block: "start" });
  entry.card.querySelector("summary").focus({ preventScroll: true });
  document.querySelectorAll("nav [aria-current]").forEach((link) => link.removeAttribute("aria-current"));
  entry.link.firstChild.setAttribute("aria-current", "true");
  const nav = document.getElementById("nav");
  nav.scrollTop = entry.link.offsetTop - nav.clientHeight / 2;
  return entry.card;
}

/** The item that a reference leads to, or the item itself. */
function pathItem(item) {
  return item.$ref ? spec.components.pathItems[item.$ref.split("/").pop()] : item;
}

function gather() {
  const calls = Object.entries(spec.paths).flatMap(([path, item]) => Object.entries(item)
    .map(([verb, operation]) => ({ method: verb.toUpperCase(), path, operation })));
  const events = Object.entries(spec.webhooks || {})
    .map(([path, item]) => ({ method: "EVENT", path, operation: pathItem(item).post, event: true }));
  return [...calls, ...events].map((entry) => {
    const { method, path, operation } = entry;
    const id = operation.operationId || `${method} ${path}`.replace(/[^A-Za-z0-9]+/g, "-");
    const words = [id, method, path, operation.summary, (operation.tags || []).join(" ")].join(" ").toLowerCase();
    return { ...entry, id, words };
  });
}

function layOut() {
  const operations = document.getElementById("operations");
  const nav = document.getElementById("nav");
  for (const tag of spec.tags || []) {
    const own = entries.filter((entry) => (entry.operation.tags || []).includes(tag.name));
    if (!own.length) continue;
    const group = el("section", { class: "group" }, el("h2", {}, tag.name), el("p", {}, inline(tag.description || "")));
    const list = el("ul", {});
    const block = el("div", {}, el("h2", {}, tag.name), list);
    for (const entry of own) {
      entry.card = card(entry);
      entry.link = el("li", {}, el("a", { href: `#${entry.id}`, title: entry.operation.summary },
        el("span", { class: `verb ${entry.method}` }, entry.method), el("span", { class: "mono" }, breakable(entry.path))));
      entry.group = group;
      entry.block = block;
      group.append(entry.card);
      list.append(entry.link);
    }
    operations.append(group);
    nav.append(block);
  }
  const names = Object.keys(spec.components.schemas);
  operations.append(el("section", { class: "group", id: "schemas" }, el("h2", {}, "Schemas"),
    el("p", {}, "The shapes by name."),
    names.map((name) => folded([el("span", { class: "path" }, name)], () => [
      ...prose(spec.components.schemas[name].description), schemaView({ $ref: PREFIX + name })]))));
  nav.append(el("div", {}, el("h2", {}, el("a", { href: "#schemas" }, "Schemas"))));
}

/** Shows only what has every word. */
function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const entry of entries) {
    const fits = words.every((word) => entry.words.includes(word));
    entry.card.hidden = !fits;
    entry.link.hidden = !fits;
    found += fits ? 1 : 0;
  }
  for (const entry of entries) {
    const none = !entry.group.querySelector(".operation:not([hidden])");
    entry.group.hidden = none;
    entry.block.hidden = none;
  }
  document.getElementById("schemas").hidden = words.length > 0;
  document.getElementById("found").textContent = words.length
    ? `${found} of ${entries.length} operations and events`
    : `${entries.length} operations and events`;
}

function keys(field) {
  document.addEventListener("keydown", (event) => {
    const writing = event.target.closest("input, textarea, select");
    if (event.key === "/" && !writing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      field.focus();
    }
  });
  field.addEventListener("input", () => search(field.value));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      field.value = "";
      search("");
    }
    if (event.key === "Enter") {
      const first = entries.find((entry) => !entry.card.hidden);
      if (first) reveal(first.id);
    }
  });
}

function wire() {
  const nav = document.getElementById("nav");
  const menu = document.getElementById("menu");
  const fold = (open) => {
    nav.classList.toggle("open", open);
    menu.setAttribute("aria-expanded", String(open));
  };
  menu.addEventListener("click", () => fold(!nav.classList.contains("open")));
  nav.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    fold(false);
    if (reveal(decodeURIComponent(link.hash.slice(1)))) {
      event.preventDefault();
      history.pushState(null, "", link.hash);
    }
  });
  window.addEventListener("popstate", () => reveal(decodeURIComponent(location.hash.slice(1))));
  keys(document.getElementById("search"));
  tokenForm(document.getElementById("token-form"));
  document.getElementById("token").addEventListener("change", (event) => remember(event.target.value));
  document.getElementById("forget").addEventListener("click", () => remember(""));
  try {
    remember(sessionStorage.getItem(TOKEN) || "");
  } catch { /* A tab that may keep nothing still works. */ }
}

async function start() {
  const found = document.getElementById("found");
  document.getElementById("document").href = `${base}/openapi.json`;
  try {
    const response = await fetch(`${base}/openapi.json`);
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    spec = await response.json();
  } catch (error) {
    found.textContent = `The document can not be read: ${error.message}`;
    return;
  }
  document.getElementById("version").textContent = spec.info.version;
  document.getElementById("description").append(...prose(spec.info.description));
  entries = gather();
  layOut();
  entries = entries.filter((entry) => entry.card);
  search("");
  wire();
  if (location.hash.length > 1) reveal(decodeURIComponent(location.hash.slice(1)));
}

start();
