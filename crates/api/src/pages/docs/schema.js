// Schemas: shown member by member, and turned into examples.

const PREFIX = "#/components/schemas/";
let spec = { paths: {}, components: { schemas: {} } };

function nameOf(schema) {
  return schema && schema.$ref && schema.$ref.startsWith(PREFIX) ? schema.$ref.slice(PREFIX.length) : null;
}

/** The schema a reference leads to; what stands beside the reference stays. */
function resolved(schema) {
  const name = nameOf(schema);
  if (!name) return schema || {};
  const { $ref, ...beside } = schema;
  return { ...(spec.components.schemas[name] || {}), ...beside };
}

function typesOf(schema) {
  return [schema.type].flat().filter(Boolean);
}

/** The type in words: "list of proposal", "integer or null". */
function kindOf(schema) {
  const name = nameOf(schema);
  const whole = resolved(schema);
  const variants = whole.oneOf || whole.anyOf;
  if (whole.type === "array" && !name) return `list of ${kindOf(whole.items || {})}`;
  if (variants && !name) return variants.map(kindOf).join(" or ");
  const types = typesOf(whole).map((type) => (type === "string" && whole.format ? whole.format : type));
  const text = types.join(" or ") || (variants ? "one of several" : "anything");
  return name ? (types[0] === "object" || variants ? name : `${text} (${name})`) : text;
}

/** What values may be, beyond their type. */
function limitsOf(schema) {
  const whole = resolved(schema);
  const limits = [];
  if (whole.enum) {
    const shown = whole.enum.slice(0, 12).map((value) => `\`${value === "" ? "\"\"" : value}\``).join(", ");
    limits.push(shown + (whole.enum.length > 12 ? ` and ${whole.enum.length - 12} more` : ""));
  }
  if (whole.minimum != null) limits.push(`from ${whole.minimum}`);
  if (whole.maximum != null) limits.push(`to ${whole.maximum}`);
  if (whole.default !== undefined && whole.default !== null) limits.push(`${whole.default} when absent`);
  if (whole.maxItems != null) limits.push(`at most ${whole.maxItems}`);
  return limits.join("; ");
}

/** Whether there is more to show than the type. */
function hasParts(schema) {
  const whole = resolved(schema);
  if (whole.type === "array") return hasParts(whole.items || {});
  return Boolean(whole.oneOf || whole.anyOf || Object.keys(whole.properties || {}).length);
}

/** A schema, its parts folded from the second level on. */
function schemaView(schema) {
  const whole = resolved(schema);
  if (whole.type === "array") return schemaView(whole.items || {});
  const variants = whole.oneOf || whole.anyOf;
  if (variants) {
    return el("div", {}, el("p", { class: "hint" }, "One of:"),
      variants.map((variant) => hasParts(variant)
        ? folded([el("span", { class: "path" }, kindOf(variant))], () => schemaView(variant))
        : el("p", {}, kindOf(variant))));
  }
  const members = Object.entries(whole.properties || {});
  if (!members.length) return el("p", { class: "hint" }, kindOf(schema), " ", inline(limitsOf(schema)));
  const required = new Set(whole.required || []);
  return el("ul", { class: "members" }, members.map(([name, member]) => memberView(name, member, required.has(name))));
}

function memberView(name, member, required) {
  const whole = resolved(member);
  const says = [whole.description, limitsOf(member)].filter(Boolean).join(" · ");
  const line = el("div", { class: "member" },
    el("span", { class: "name" }, name),
    el("span", { class: "kind" }, kindOf(member)),
    required ? null : el("span", { class: "kind" }, "optional"),
    says ? el("span", { class: "says" }, inline(says)) : null);
  return el("li", {}, line, hasParts(member) ? folded("Members", () => schemaView(member)) : null);
}

/** An example: the one the schema gives, else one made of its members. */
function exampleOf(schema, depth = 0) {
  const whole = resolved(schema);
  if (whole.examples && whole.examples.length) return whole.examples[0];
  if (whole.example !== undefined) return whole.example;
  if (whole.enum) return whole.enum[0];
  const variants = whole.oneOf || whole.anyOf;
  if (variants) return exampleOf(variants.find((variant) => variant.type !== "null") || {}, depth);
  switch (typesOf(whole).find((type) => type !== "null")) {
    case "object": return depth > 8 ? {} : Object.fromEntries(Object.entries(whole.properties || {})
      .map(([name, member]) => [name, exampleOf(member, depth + 1)]));
    case "array": return depth > 8 ? [] : [exampleOf(whole.items || {}, depth + 1)];
    case "integer": case "number": return whole.minimum ?? 1;
    case "boolean": return true;
    case "string": return whole.format === "date-time" ? "2026-03-01T09:30:00Z"
      : whole.format === "uuid" ? "1b4e28ba-2fa1-4d2b-883f-0016d3cca427" : "text";
    default: return null;
  }
}
