// Operations: one folded card each, with the form that calls it.

/** The field of a parameter, and how to read what is in it. */
function fieldOf(parameter) {
  const schema = resolved(parameter.schema || {});
  const id = freshId();
  const items = schema.type === "array" ? resolved(schema.items || {}) : null;
  if (items && items.enum && items.enum.length < 5) {
    const boxes = items.enum.map((value) => el("input", { type: "checkbox", value }));
    const choices = boxes.map((box) => el("label", {}, box, box.value));
    return {
      id: null,
      control: el("fieldset", { class: "choices", "aria-label": parameter.name }, choices),
      read: () => boxes.filter((box) => box.checked).map((box) => box.value),
    };
  }
  const words = items ? null : schema.enum || (schema.type === "boolean" ? ["true", "false"] : null);
  const control = words
    ? el("select", { id, name: parameter.name }, el("option", { value: "" }, ""), words.map((word) => el("option", {}, word)))
    : el("input", { id, name: parameter.name, autocomplete: "off", spellcheck: "false", required: parameter.in === "path",
      inputmode: schema.type === "integer" ? "numeric" : null,
      placeholder: items ? "one, another" : schema.default ?? null });
  const read = () => {
    const value = control.value.trim();
    if (!value) return [];
    return items ? value.split(",").map((part) => part.trim()).filter(Boolean) : [value];
  };
  return { id, control, read };
}

function parameterRows(parameters, values) {
  return el("div", { class: "parameters" }, parameters.flatMap((parameter) => {
    const { id, control, read } = fieldOf(parameter);
    values.push({ parameter, read });
    const kind = kindOf(parameter.schema || {});
    const limits = limitsOf({ ...resolved(parameter.schema || {}), enum: undefined });
    return [
      el(id ? "label" : "div", { for: id, class: "named" }, el("code", {}, parameter.name),
        parameter.required ? el("span", { class: "must" }, " required") : null,
        el("div", { class: "kind" }, [kind, limits].filter(Boolean).join("; "))),
      control,
      el("div", { class: "says" }, inline(parameter.description || "")),
    ];
  }));
}

/** The inside of a card. */
function operationView(method, path, operation) {
  const shown = (operation.parameters || []).filter((parameter) => parameter.in !== "header");
  const isFilter = (parameter) => parameter.name.startsWith("filter[");
  const plain = shown.filter((parameter) => !isFilter(parameter));
  const filters = shown.filter(isFilter);
  const values = [];
  const parts = prose(operation.description);
  const form = el("form", { novalidate: false });
  if (plain.length) form.append(el("h3", {}, "Parameters"), parameterRows(plain, values));
  if (filters.length) {
    const rows = parameterRows(filters, values);
    const closed = el("details", { class: "part" }, el("summary", {}, `Filters (${filters.length})`), rows);
    form.append(closed);
  }
  const editor = bodyEditor(operation, form);
  const answer = el("div", { class: "answer", tabindex: "-1", "aria-live": "polite", hidden: true });
  form.append(el("p", { class: "actions" },
    el("button", { class: "primary", type: "submit" }, "Send"),
    el("button", { type: "button", onclick: () => {
      answer.hidden = false;
      answer.replaceChildren(el("h3", {}, "With curl"), copyable(curlOf(now())));
    } }, "Show curl")));
  const now = () => requestOf(method, operation, path, values, editor && editor.value.trim());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answer.hidden = false;
    send(now(), answer);
  });
  return el("div", { class: "inside" }, parts, form, answer, el("h3", {}, "Answers"), answersView(operation));
}

function bodyEditor(operation, form) {
  const content = operation.requestBody && operation.requestBody.content["application/json"];
  if (!content) return null;
  const id = freshId();
  const write = (schema) => JSON.stringify(exampleOf(schema), null, 2);
  const editor = el("textarea", { id, spellcheck: "false" });
  editor.value = write(content.schema);
  editor.rows = Math.min(18, editor.value.split("\n").length + 1);
  const variants = resolved(content.schema).oneOf || [];
  const choose = el("select", { "aria-label": "Example", onchange: () => { editor.value = write(variants[choose.selectedIndex]); } },
    variants.map((variant) => el("option", {}, resolved(variant).title || kindOf(variant))));
  form.append(el("h3", {}, "Body"),
    variants.length ? el("p", {}, choose) : "",
    el("label", { for: id, class: "hint" }, "JSON, ", kindOf(content.schema)), editor,
    folded("What it may hold", () => schemaView(content.schema)));
  return editor;
}

function answersView(operation) {
  const one = ([status, response]) => {
    const content = Object.entries(response.content || {})[0];
    const line = [el("code", {}, status), " ", ...inline(response.description || "")];
    const schema = content && content[1].schema;
    if (!schema) return el("p", {}, line);
    return folded([...line, el("span", { class: "kind" }, `  ${nameOf(schema) || content[0]}`)],
      () => [schemaView(schema), folded("Example", () => copyable(JSON.stringify(exampleOf(schema), null, 2)))]);
  };
  const all = Object.entries(operation.responses || {});
  const good = all.filter(([status]) => status.startsWith("2"));
  const other = all.filter(([status]) => !status.startsWith("2"));
  return el("div", {}, good.map(one),
    other.length ? folded(`Other answers (${other.length})`, () => other.map(one)) : null);
}

/** The card of an operation. */
function card(entry) {
  const { id, method, path, operation, event } = entry;
  const summary = [el("span", { class: `verb ${method}` }, method), el("span", { class: "path" }, breakable(path)),
    el("span", { class: "what" }, operation.summary || "")];
  return folded(summary, () => (event ? eventView(operation) : operationView(method, path, operation)),
    { class: "operation", id });
}

/** The inside of the card of an event: what a receiver gets. */
function eventView(operation) {
  const schema = operation.requestBody.content["application/json"].schema;
  return el("div", { class: "inside" }, prose(operation.description),
    el("h3", {}, "Headers"),
    el("ul", { class: "members" }, operation.parameters.map((parameter) => el("li", {},
      el("div", { class: "member" }, el("span", { class: "name" }, parameter.name),
        el("span", { class: "says" }, inline(parameter.description || "")))))),
    el("h3", {}, "Body"), schemaView(schema),
    folded("Example", () => copyable(JSON.stringify(exampleOf(schema), null, 2))));
}
