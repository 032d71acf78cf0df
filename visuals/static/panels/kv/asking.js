// Asks the server a calculator's question. What it answers at every place of a slider is fetched when a hand comes near
// it: while it moves nothing is asked, nothing is computed here, and the answer comes at once.

import { latest } from "../../latest.js";

/**
 * @typedef {import("../../messages.d.ts").Calculations} Calculations
 *
 * @typedef {Pick<import("../../types.d.ts").Glass, "calculate">} Server
 *
 * @typedef {Record<string, unknown>} Request settings as the server takes them
 *
 * @typedef {null | [unknown] | { [key: string]: Change }} Change null: nothing; [value]: in its place; else changes
 *   by key or index
 */

/**
 * What the server answers, or why it does not.
 *
 * @template {keyof Calculations} What
 * @typedef {{
 *   data?: import("../../decoded.d.ts").Calculation<What>;
 *   message?: import("../../types.d.ts").Refusal;
 * }} Answer
 */

/**
 * An answer, from the first one and what changes in it (app/chapters/kv.py). What stays is shared, so never write
 * to it.
 *
 * @param {unknown} first
 * @param {Change} change
 * @returns {unknown}
 */
export function changed(first, change) {
  if (change === null) return first;
  if (Array.isArray(change)) return change[0];
  const parts = /** @type {Record<string, unknown>} */ (first); // an array, too: its keys are its indices
  const inner = Object.entries(change).map(([key, one]) => [key, changed(parts[key], one)]);
  return Object.assign(Array.isArray(first) ? [...first] : { ...parts }, Object.fromEntries(inner));
}

/**
 * What a request asks besides the setting that the slider moves.
 *
 * @param {Request} request
 * @param {string} along
 */
function without(request, along) {
  const { [along]: _, ...others } = request;
  return JSON.stringify(others);
}

/**
 * Answers at all places of sliders.
 *
 * @template {keyof Calculations} What
 * @param {Server} glass
 * @param {What} asked a question that app/chapters/kv.py knows
 * @returns {{
 *   prepare: (request: Request, along: string, values: number[]) => Promise<void>;
 *   at: (request: Request) => Answer<What> | null;
 * }}
 *   `prepare` fetches once for each slider and setting of the others; `at` gives {data} or {message}, null where it
 *   is not here
 */
export function createPlaces(glass, asked) {
  /**
   * By slider, of the last settings; `first` is null until they come, `changes` by value.
   *
   * @type {Map<string, { others: string; first: unknown; changes: Map<unknown, Change> }>}
   */
  const held = new Map();

  /**
   * @param {Request} request
   * @param {string} along
   * @param {number[]} values
   */
  async function prepare(request, along, values) {
    const others = without(request, along);
    if (held.get(along)?.others === others) return;
    const mine = { others, first: /** @type {unknown} */ (null), changes: new Map() };
    held.set(along, mine);
    const { data } = await glass.calculate("kv_places", { ...request, asked, along, values });
    if (!data) {
      // no connection: whoever comes near again asks again
      if (held.get(along) === mine) held.delete(along);
      return;
    }
    mine.first = data.first;
    // what Change is, no TypedDict can say
    const changes = /** @type {Change[]} */ (data.changes);
    changes.forEach((change, i) => mine.changes.set(values[i], change));
  }

  /** @param {Request} request */
  function at(request) {
    for (const [along, { others, first, changes }] of held) {
      const change = changes.get(request[along]);
      // each of them is an answer to the question
      if (first && change !== undefined && others === without(request, along))
        return /** @type {Answer<What>} */ (changed(first, change));
    }
    return null;
  }
  return { prepare, at };
}

/**
 * Asks a question again and again, of places where those have the answer.
 *
 * @template {keyof Calculations} What
 * @template [Mark=void]
 * @param {Server} glass
 * @param {What} asked a question that app/chapters/kv.py knows
 * @param {(answer: Answer<What>, mark: Mark) => void} use told each answer, and what came with its request, unless
 *   a place answered a later request
 * @returns {{
 *   ask: (request: Request, mark: Mark) => void;
 *   near: (request: Request, along: string, values: number[]) => void;
 * }}
 */
export function createAsker(glass, asked, use) {
  const places = createPlaces(glass, asked);
  let newest = 0; // how many answers came from places: what was asked of the server before one of them is not shown
  const send = latest(
    (/** @type {{ request: Request; mark: Mark; since: number }} */ { request }) => glass.calculate(asked, request),
    (answer, { mark, since }) => {
      if (since !== newest) return;
      use(answer, mark);
    },
  );

  /**
   * @param {Request} request
   * @param {Mark} mark
   */
  function ask(request, mark) {
    const known = places.at(request);
    if (!known) {
      send({ request, mark, since: newest });
      return;
    }
    newest += 1;
    use(known, mark);
  }
  return { ask, near: places.prepare };
}
