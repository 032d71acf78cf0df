// The tours that there are: what each is called in the texts, its stops, and whether the loaded model has it.

import { CACHE_STOPS } from "./cache.js";
import { LEARNED_STOPS, hasLog } from "./learned.js";
import { STOPS } from "./stops.js";

/**
 * @typedef {import("./stops.js").Stop} Stop
 *
 * @typedef {{
 *   name: string;
 *   section: string;
 *   stops: Stop[];
 *   places?: boolean;
 *   isThere?: (glass: import("../types.d.ts").Glass) => boolean | null;
 *   gone?: string;
 * }} Tour
 *   `section`: of the texts, which has `title` and `about`; `places`: its stops go where the answer was measured to
 *   come from, and are given that (places.js); those of the others are given the run; `isThere`: null while that is
 *   not known; `gone`: the message that is shown where it is not
 */

/**
 * A stop's name is one of all tours, since a link names the stop alone.
 *
 * @type {Tour[]}
 */
export const TOURS = [
  { name: "word", section: "tour", stops: STOPS, places: true },
  { name: "cache", section: "tour-cache", stops: CACHE_STOPS },
  { name: "learned", section: "tour-learned", stops: LEARNED_STOPS, isThere: hasLog, gone: "tour_absent" },
];

/**
 * The tour of this name, or with a stop of this name.
 *
 * @param {string} name
 * @returns {Tour | undefined}
 */
export const tourOf = (name) =>
  TOURS.find((tour) => tour.name === name || tour.stops.some((stop) => stop.name === name));
