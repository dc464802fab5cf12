// Elements. Everything shown goes through text nodes, so nothing in the document can become markup.

/** An element: attributes, then children (elements or texts; null is left out). */
function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

/** A text in which `words` between backticks are code. */
function inline(text) {
  return String(text).split("`").map((part, at) => (at % 2 ? el("code", {}, part) : part));
}

/** Paragraphs, parted by empty lines. */
function prose(text) {
  return String(text || "").split("\n\n").filter(Boolean).map((part) => el("p", {}, inline(part)));
}

/** A path or name that breaks before its separators, if it must. */
function breakable(text) {
  return text.split(/(?=[/_.])/).flatMap((part) => [el("wbr", {}), part]);
}

/** A folded part; what is inside is made when it is first opened. */
function folded(summary, make, attributes = { class: "part" }) {
  const details = el("details", attributes, el("summary", {}, summary));
  const fill = () => {
    if (details.open && details.childElementCount === 1) details.append(...[make()].flat());
  };
  details.addEventListener("toggle", fill);
  details.fill = fill;
  return details;
}

/** A text with a button that copies it. */
function copyable(text) {
  const button = el("button", { type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  } }, "Copy");
  return el("div", { class: "copied" }, el("pre", { tabindex: "0" }, text), button);
}

/** An id that is unique on this page. */
let made = 0;
function freshId() {
  made += 1;
  return `field-${made}`;
}
