// Asks the server a calculator's question; where a slider's places hold the answer, nothing is asked and it comes at once.

import { latest } from "../../latest.js";
import { createPlaces } from "./places.js";

/**
 * @param {object} glass @param {string} asked a question that app/chapters/kv.py knows
 * @param {(answer: { data?: object, message?: object }, mark: any) => void} use told each answer, and what came with its
 * request, unless a place answered a later request
 * @returns {{ ask: (request: object, mark?: any) => void, near: (request: object, along: string, values: number[]) => void }}
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
