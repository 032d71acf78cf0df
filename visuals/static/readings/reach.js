// How much a score depends on the distance: what it would be at every other one in the text, beside how far the scores
// of its row lie apart.

import { row } from "../compute.js";
import { farOf, placeOf } from "./rope-place.js";

const HARDLY = 0.25; // of the row's spread: a score that no distance moves by more depends on distance hardly at all
const FEWEST = 4; // keys in a row, for its spread to say something

/**
 * @typedef {{ most: number; spread: number; flat: boolean }} Reach `most`: by how much another distance in the text
 *   would move the score at most; `spread`: the standard deviation of the row's scores; `flat`: whether distance
 *   hardly counts
 * @param {import("../decode.js").Layer} layer of a network that turns its heads
 * @param {import("../decode.js").Trace} trace
 * @param {{ head: number; query: number; key: number }} cell
 * @returns {Reach}
 */
export function reachOf(layer, trace, { head, query, key }) {
  const { model } = trace;
  const place = placeOf(layer, { trace, head, query, key });
  const over = farOf(place, place.frequencies, query + 1).map((product) => product * model.parts.scale);
  const scores = row(layer, model, head, query).scores.filter(Number.isFinite); // beyond a window there is none
  const own = key > query ? scores[key] : over[query - key];
  const most = over.reduce((far, score) => Math.max(far, Math.abs(score - own)), 0);
  const mean = scores.reduce((a, b) => a + b, 0) / scores.length;
  const spread = Math.sqrt(scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / scores.length);
  return { most, spread, flat: scores.length >= FEWEST && most < HARDLY * spread };
}
