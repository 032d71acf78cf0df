// What the server found wrong with a setting, in the reader's language, with the field's name as the page writes it.

/** What the server writes in English of what would be right, as texts with their particulars. */
const EXPECTED = [
  [/^a divisor of (\w+) \(([\d,]+)\)$/, "divisor"],
  [/^a divisor or a multiple of (\w+) \(([\d,]+)\)$/, "divisor_or_multiple"],
  [/^at most (\w+) \(([\d,]+)\)$/, "at_most"],
  [/^one of (.+)$/, "one_of"],
];

/** @param {(key: string, params: object) => string} text */
export function expectedText(text, expected) {
  const english = [expected].flat().join(", ");
  for (const [pattern, key] of EXPECTED) {
    const [, name, value] = pattern.exec(english) ?? [];
    if (name) return text(`kv.expected_${key}`, { name, value });
  }
  return english;
}

/** @param {object} glass @param {{ code: string, params: object }} message @returns {string} */
export function troubleText(glass, { code, params }) {
  const said = (key, more = {}) => {
    const text = glass.text(key, { ...params, ...more });
    return text === key ? null : text;
  };
  const hub = code === "hub" && params.reason && said(`kv.hub_${params.reason}`);
  if (hub) return hub;
  const name = params.field && (said(`kv.field_${params.field}`) ?? params.field);
  if (params.low !== undefined && name) {
    const [low, high] = [params.low, params.high].map((value) => value.toLocaleString("en-US"));
    return said("kv.wrong_range", { field: name, low, high });
  }
  if (name && params.expected !== undefined) return said("kv.wrong_value", { field: name, expected: expectedText(glass.text, params.expected) });
  return said(`message.${code}`) ?? params.detail ?? code;
}
