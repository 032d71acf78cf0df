// How far the model's Jacobian lens is, and the work on it: the server takes in one token at a time until all are in,
// or until it is told to stop. What is done by then stays done.

import { reactive } from "../../reads.js";

/**
 * @typedef {import("../../decoded.d.ts").Calculation<"lens_fit">} Progress
 *
 * @typedef {import("../../types.d.ts").Refusal} Refusal
 *
 * @typedef {object} Fit
 * @property {Progress | null} now null until the server has said
 * @property {boolean} running
 * @property {Refusal | null} trouble
 * @property {(model: string) => void} follow asks for another model's, once
 * @property {() => Promise<void>} start
 * @property {() => void} stop
 */

/** @type {WeakMap<object, Fit>} */
const fits = new WeakMap();

/**
 * The one that the panel and B − A share.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {Fit}
 */
export function fitOf(glass) {
  const { state } = glass;
  let fit = fits.get(state);
  if (!fit) fits.set(state, (fit = createFit(glass)));
  return fit;
}

/** Whether the lens is there. @param {Fit} fit */
export const isFitted = ({ now }) => Boolean(now && now.tokens && now.done === now.tokens);

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {Fit}
 */
function createFit(glass) {
  /** @type {string | null} */
  let model = null;

  /** Asks once, for `further` with one more token. @param {boolean} further */
  async function ask(further) {
    const of = model;
    const { data = null, message = null } = await glass.calculate("lens_fit", { model: of, further });
    if (of !== model) return; // another model came meanwhile
    if (data) fit.now = data;
    fit.trouble = message;
  }

  /** @type {Fit["follow"]} */
  function follow(next) {
    if (next === model) return;
    model = next;
    Object.assign(fit, { now: null, running: false, trouble: null });
    ask(false);
  }

  async function start() {
    if (fit.running) return;
    const of = model;
    fit.running = true;
    while (fit.running && of === model && !isFitted(fit)) {
      await ask(true);
      if (fit.trouble) break;
    }
    if (of === model) fit.running = false;
  }

  const stop = () => {
    fit.running = false;
  };

  /** @type {Fit} */
  const fit = reactive({ now: null, running: false, trouble: null, follow, start, stop }, glass.repaint);
  return fit;
}
