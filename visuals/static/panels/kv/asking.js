// Asks the server a calculator's question. What it answers at every place of a slider is fetched when a hand comes near
// it: while it moves nothing is asked, nothing is computed here, and the answer comes at once.

import { latest } from "../../latest.js";

/**
 * An answer, from the first one and what changes in it (app/chapters/kv.py). What stays is shared, so never write
 * to it.
 *
 * @param {any} first
 * @param {null | [any] | object} change null: nothing; [value]: in its place; else changes by key or index
 */
export function changed(first, change) {
  if (change === null) return first;
  if (Array.isArray(change)) return change[0];
  const copy = Array.isArray(first) ? [...first] : { ...first };
  for (const [key, inner] of Object.entries(change)) copy[key] = changed(first[key], inner);
  return copy;
}

/** What a request asks besides the setting that the slider moves. */
function without(request, along) {
  const { [along]: _, ...others } = request;
  return JSON.stringify(others);
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {keyof import("../../messages.d.ts").Calculations} asked a question that app/chapters/kv.py knows
 * @returns {{
 *   prepare: (request: object, along: string, values: number[]) => Promise<void>;
 *   at: (request: object) => object | null;
 * }}
 *   `prepare` fetches once for each slider and setting of the others; `at` gives {data} or {message}, null where it
 *   is not here
 */
export function createPlaces(glass, asked) {
  // by slider: { others, first, changes: Map by value } of the last settings; null until they come
  const held = new Map();

  async function prepare(request, along, values) {
    const others = without(request, along);
    if (held.get(along)?.others === others) return;
    const mine = { others, first: null, changes: new Map() };
    held.set(along, mine);
    const { data } = await glass.calculate("kv_places", { ...request, asked, along, values });
    if (!data) {
      // no connection: whoever comes near again asks again
      if (held.get(along) === mine) held.delete(along);
      return;
    }
    mine.first = data.first;
    data.changes.forEach((change, i) => mine.changes.set(values[i], change));
  }

  function at(request) {
    for (const [along, { others, first, changes }] of held) {
      if (first && changes.has(request[along]) && others === without(request, along))
        return changed(first, changes.get(request[along]));
    }
    return null;
  }
  return { prepare, at };
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {keyof import("../../messages.d.ts").Calculations} asked a question that app/chapters/kv.py knows
 * @param {(answer: { data?: object; message?: object }, mark: any) => void} use told each answer, and what came
 *   with its request, unless a place answered a later request
 * @returns {{
 *   ask: (request: object, mark?: any) => void;
 *   near: (request: object, along: string, values: number[]) => void;
 * }}
 */
export function createAsker(glass, asked, use) {
  const places = createPlaces(glass, asked);
  let newest = 0; // how many answers came from places: what was asked of the server before one of them is not shown
  const send = latest(
    ({ request }) => glass.calculate(asked, request),
    (answer, { mark, since }) => {
      if (since !== newest) return;
      use(answer, mark);
    },
  );

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
