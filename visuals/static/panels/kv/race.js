// The measurement with and without a cache: asks the server for a few tokens at a time, until enough or told to stop.

import { reactive } from "../../reads.js";

export const AT_ONCE = 32; // tokens a press of the button measures

/**
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../readings/kv-race.js").Step} Step
 *
 * @typedef {object} Measured what was measured so far
 * @property {Step[]} steps
 * @property {boolean} running
 * @property {import("../../types.d.ts").Refusal | null} trouble
 *
 * @typedef {Measured & {
 *   start: (anew: boolean) => Promise<void>;
 *   stop: () => void;
 *   follow: (trace: Pick<Trace, "model" | "prompt" | "tokens" | "nPrompt">) => void;
 * }} Race
 *
 *
 * @typedef {Pick<import("../../types.d.ts").Glass, "calculate" | "repaint">} Server
 */

/** @type {Race | null} */
let shared = null;
/**
 * The measurement that the panel and whoever else speaks of it share; as `createRace`.
 *
 * @param {Server} glass
 */
export function raceOf(glass) {
  shared ??= createRace(glass);
  return shared;
}

/**
 * A new measurement.
 *
 * @param {Server} glass
 * @returns {Race}
 */
export function createRace(glass) {
  /** @type {Parameters<Race["follow"]>[0] | null} null until one is followed */
  let trace = null;
  /** @type {number[]} */
  let ids = [];
  let turn = 0; // of the presses: an answer to an earlier one is let go of

  function reset() {
    ids = trace ? trace.tokens.ids.slice(0, trace.nPrompt) : [];
    Object.assign(race, { steps: [], trouble: null });
  }

  /**
   * Another prompt or model begins afresh; further tokens of the same prompt do not.
   *
   * @type {Race["follow"]}
   */
  function follow(next) {
    const same = trace && next.model.name === trace.model.name && next.prompt === trace.prompt;
    trace = next;
    if (same) return;
    race.running = false;
    reset();
  }

  const stop = () => {
    race.running = false;
  };

  /** @param {boolean} anew */
  async function start(anew) {
    if (race.running || !trace) return;
    if (anew) reset();
    const [of, mine] = [ids, (turn += 1)];
    const enough = race.steps.length + AT_ONCE;
    Object.assign(race, { running: true, trouble: null });
    while (race.running && race.steps.length < enough) {
      const { data, message } = await glass.calculate("kv_race", { model: trace.model.name, ids: of });
      if (of !== ids || mine !== turn) return; // another prompt came meanwhile, or another press
      if (!data?.steps.length) {
        Object.assign(race, { running: false, trouble: message ?? null });
        break;
      }
      const taken = data.steps.slice(0, enough - race.steps.length); // a slow machine's answers are of any length
      of.push(...taken.map(({ token_id }) => token_id));
      race.steps = [...race.steps, ...taken];
    }
    race.running = false;
  }
  /** @type {Race} */
  const race = reactive({ steps: [], running: false, trouble: null, start, stop, follow }, glass.repaint);
  return race;
}
