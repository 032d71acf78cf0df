// What the address says of changed runs and of a run kept as A. Fetched where there is one; link.js has the rest.

const SIDES = /** @type {const} */ (["A", "B", "B-A"]);
/**
 * @typedef {import("./messages.d.ts").Changes} Changes
 *
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {import("./run-changes.js").Kind} Kind
 *
 * @typedef {{ field: string; value: string; expected: string }} Fault a field that holds something else than
 *   changes
 */

/**
 * What was changed in a run, by kind as app/comparing.py has it, and the field that lists it: "3.7_4.0" or "3_4".
 *
 * @type {Record<Kind, string>}
 */
export const CHANGED = {
  heads: "off-heads",
  cross: "off-cross",
  attention: "off-attention",
  ffn: "off-ffn",
  neurons: "off-neurons",
  patches: "patch",
  prefix: "prefix",
  parts: "parts",
  encoder_heads: "off-encoder-heads",
  encoder_attention: "off-encoder-attention",
  encoder_ffn: "off-encoder-ffn",
  encoder_neurons: "off-encoder-neurons",
};
const KINDS = /** @type {Kind[]} */ (Object.keys(CHANGED));
/** @type {Set<Kind>} */
const SINGLE = new Set(["attention", "ffn", "prefix", "encoder_attention", "encoder_ffn"]);
const PART = /^[a-z_]{1,20}:[a-z0-9_]{1,20}$/;
const MOST = 256; // changes of a kind
const DEEPEST = 4; // runs from which a patched run takes its stream, one from the other

/**
 * @typedef {{
 *   prompt?: string;
 *   model?: string;
 *   generated: number[];
 *   changes: Changes;
 *   source?: Recipe;
 * }} Recipe
 *   How a run is made. `source`: the run whose stream its patches take; for B that is A where there is none.
 *
 * @typedef {{ run: Recipe; kept?: Recipe; side?: "A" | "B" | "B-A"; faults: Fault[] }} Runs `run`: the newest, B;
 *   `kept`: A. With the side A and no `kept`, the one run is itself kept as A.
 */

/**
 * @param {Trace} trace
 * @returns {Recipe}
 */
export function recipeOf({ prompt, model, tokens, nPrompt, changes, source }) {
  const kinds = KINDS.filter((kind) => changes[kind]?.length);
  const recipe = {
    prompt,
    model: model.name,
    generated: tokens.ids.slice(nPrompt),
    changes: Object.fromEntries(kinds.map((kind) => [kind, changes[kind]])),
  };
  return source ? { ...recipe, source: recipeOf(source) } : recipe;
}

/**
 * Exchanged parts: "norm:layer_norm.kv_heads:1"; null where it holds something else.
 *
 * @param {string} value
 */
function readParts(value) {
  const parts = value.split(".");
  return parts.length <= MOST && parts.every((part) => PART.test(part)) ? parts : null;
}

/**
 * The changes in one field; null where it holds something else.
 *
 * @param {Kind} kind
 * @param {string} value
 * @returns {(number | number[] | string)[] | null}
 */
function readChanges(kind, value) {
  if (kind === "parts") return readParts(value);
  const form = SINGLE.has(kind) ? /^\d{1,6}$/ : /^\d{1,6}\.\d{1,6}$/;
  const items = value.split("_");
  if (items.length > MOST || !items.every((item) => form.test(item))) return null;
  return items.map((item) => (SINGLE.has(kind) ? Number(item) : item.split(".").map(Number)));
}

/**
 * How changes of a kind are written, for a reader whose link is not.
 *
 * @param {Kind} kind
 */
const formOf = (kind) => (kind === "parts" ? "norm:layer_norm" : SINGLE.has(kind) ? "3_4" : "3.7_4.0");

/**
 * @param {URLSearchParams} fields
 * @param {string} prefix
 * @param {Fault[]} faults gets what cannot be read
 * @param {number} depth
 * @returns {Recipe} what the fields with this prefix describe
 */
function readRun(fields, prefix, faults, depth = 0) {
  /** @type {Partial<Record<Kind, (number | number[] | string)[]>>} */
  const changes = {};
  for (const kind of KINDS) {
    const field = prefix + CHANGED[kind];
    const value = fields.get(field);
    if (value === null) continue;
    const found = readChanges(kind, value);
    if (found) changes[kind] = found;
    else faults.push({ field, value: value.slice(0, 40), expected: formOf(kind) });
  }
  const generated = (fields.get(`${prefix}more`) ?? "")
    .split(".")
    .filter((id) => /^\d{1,7}$/.test(id))
    .map(Number);
  /** @type {Recipe} */
  const run = {
    prompt: fields.get(`${prefix}prompt`) ?? undefined,
    model: fields.get(`${prefix}model`) ?? undefined,
    generated,
    changes: /** @type {Changes} */ (changes), // of each kind as SINGLE says
  };
  if (depth < DEEPEST && fields.has(`${prefix}from-prompt`))
    run.source = readRun(fields, `${prefix}from-`, faults, depth + 1);
  return run;
}

/**
 * @param {string} hash
 * @returns {Runs}
 */
export function readRuns(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  /** @type {Fault[]} */
  const faults = [];
  const run = readRun(fields, "", faults);
  const kept = fields.has("a-prompt") ? readRun(fields, "a-", faults) : undefined;
  return { run, kept, side: SIDES.find((name) => name === fields.get("side")), faults };
}

/**
 * @param {string} prefix
 * @param {Recipe} recipe
 * @returns {[string, string][]}
 */
function fieldsOfRun(prefix, { prompt, model, generated, changes, source }) {
  const lists = KINDS.map((kind) => [
    CHANGED[kind],
    (changes[kind] ?? []).map((value) => [value].flat().join(".")).join(kind === "parts" ? "." : "_"),
  ]);
  const own = [["model", model], ["prompt", prompt], ["more", generated.join(".")], ...lists].filter(
    ([name, value]) => value || name === "prompt",
  );
  return [
    ...own.map(([name, value]) => /** @type {[string, string]} */ ([prefix + name, value])),
    ...(source ? fieldsOfRun(`${prefix}from-`, source) : []),
  ];
}

/**
 * The fields that readRuns reads back.
 *
 * @param {Runs} runs
 * @returns {[string, string][]}
 */
export function fieldsOf({ run, kept, side }) {
  const fields = [...fieldsOfRun("", run), ...(kept ? fieldsOfRun("a-", kept) : [])];
  return side ? [...fields, ["side", side]] : fields;
}

/**
 * What the store shows of both runs.
 *
 * @param {{
 *   state: { run: Trace; kept: Trace | null; side: "A" | "B" | "B-A" };
 *   runs: () => import("./comparison.js").Two | null;
 * }} store
 * @returns {Runs}
 */
export function runsOf({ state, runs }) {
  const two = runs();
  if (!two) return { run: recipeOf(state.run), side: state.kept ? "A" : undefined, faults: [] };
  const run = recipeOf(two.B.source === two.A ? { ...two.B, source: null } : two.B);
  return { run, kept: recipeOf(two.A), side: state.side, faults: [] };
}
