// How the next token is chosen: one set of settings for the bar at the top, the chapter Next token, the link, and what
// Generate and "+1 token" are asked with.

const NAME = "sampling";
/**
 * Bounds, and what holds where nothing is set: the most probable token, out of all. In the order of the bar's
 * fields.
 *
 * @type {Record<keyof Sampling, { min: number; max: number; step?: number; first: number; whole?: boolean }>}
 */
const RANGES = {
  temperature: { min: 0, max: 2, step: 0.05, first: 0 },
  top_k: { min: 0, max: 100, step: 1, first: 0, whole: true },
  top_p: { min: 0, max: 1, step: 0.01, first: 1 },
  seed: { min: 0, max: Number.MAX_SAFE_INTEGER, first: 0, whole: true },
};
const NAMES = /** @type {(keyof Sampling)[]} */ (Object.keys(RANGES));
/**
 * A setting's bounds, for a slider.
 *
 * @param {keyof Sampling} name
 */
export const rangeOf = (name) => ({ min: RANGES[name].min, max: RANGES[name].max, step: RANGES[name].step });

/**
 * @typedef {{ temperature: number; top_k: number; top_p: number; seed: number }} Sampling
 *
 * @typedef {import("./types.d.ts").Settings} Settings
 */

/**
 * @param {Pick<Settings, "get">} settings
 * @returns {Sampling} within their bounds
 */
export function samplingOf(settings) {
  const given = settings.get(NAME);
  /** @param {keyof Sampling} name */
  const read = (name) => {
    const { min, max, first, whole } = RANGES[name];
    const value = Object.hasOwn(given, name) ? Number(given[name]) : first;
    return Number.isFinite(value) ? Math.max(min, Math.min(max, whole ? Math.round(value) : value)) : first;
  };
  return /** @type {Sampling} */ (Object.fromEntries(NAMES.map((name) => [name, read(name)])));
}

/**
 * Changes some of them.
 *
 * @param {Pick<Settings, "get" | "set">} settings
 * @param {Partial<Sampling>} change
 */
export function setSampling(settings, change) {
  const before = samplingOf(settings);
  const next = { ...before, ...change };
  if (NAMES.every((name) => next[name] === before[name])) return;
  settings.set(
    NAME,
    Object.fromEntries(NAMES.map((name) => [name, next[name] === RANGES[name].first ? "" : next[name]])),
  );
}

/**
 * The bar's field of a setting; null while gradio has not built it, which it does when the settings are first
 * opened.
 *
 * @param {string} name
 * @returns {HTMLInputElement | null}
 */
const fieldOf = (name) => document.querySelector(`#${name} input[type=number]`);

/**
 * Keeps the bar's fields and the settings the same, whichever of them is changed.
 *
 * @param {import("./types.d.ts").Store} store
 * @param {Settings} settings
 */
export function followBar(store, settings) {
  function fill() {
    const wanted = samplingOf(settings);
    let moved = false;
    for (const name of NAMES) {
      const field = fieldOf(name);
      if (!field || Number(field.value) === wanted[name]) continue;
      moved = true;
      field.value = String(wanted[name]);
      field.dispatchEvent(new Event("input", { bubbles: true })); // so that gradio's own slider moves
    }
    return moved;
  }
  /** gradio sets fields that it has just built once more itself: until it is done, again. */
  function settle(tries = 60, calm = 0) {
    if (tries > 0 && calm < 10) requestAnimationFrame(() => settle(tries - 1, fill() ? 0 : calm + 1));
  }
  document.addEventListener("input", (event) => {
    const field = /** @type {HTMLInputElement} */ (event.target);
    const name = NAMES.find((one) => field.closest?.(`#${one}`));
    if (!name || field.value === "" || !Number.isFinite(Number(field.value))) return;
    setSampling(settings, { [name]: Number(field.value) });
  });
  document.addEventListener("click", ({ target }) => {
    if (/** @type {Element} */ (target).closest?.("#settings .label-wrap")) settle();
  });
  store.on("settings", (name) => {
    if (name === NAME) fill();
  });
}

const CIRCLE = 8; // tokens: a shorter repetition is no circle

/**
 * Whether a text ends in the same tokens over and over.
 *
 * @param {number[]} ids what was written
 */
export function goesRound(ids) {
  for (let period = 1; 2 * period <= ids.length; period += 1) {
    let same = 0;
    while (same + period < ids.length && ids.at(-1 - same) === ids.at(-1 - same - period)) same += 1;
    if (same + period >= Math.max(2 * period, CIRCLE)) return true;
  }
  return false;
}
