// What is fetched before anyone asks for it, when the browser is idle: which layers, and how large they may be.

/** Up to this many bytes of layers are fetched ahead by one question, when the browser is idle. */
const PREFETCH_BYTES = 1_000_000;
/**
 * Of layers that are larger the two beside the selected one, where a reader steps next; none of more bytes than
 * these.
 */
const NEIGHBOUR_BYTES = 4_000_000;
/** ms that the selected layer stands still before those beside it are fetched: who steps on is not to wait for them. */
const RESTS = 300;
/** ms that the pointer rests on a layer that is not here before it is fetched: who only passes over it asks nothing. */
const POINTED = 65;
/** Up to this many layers by one question; the server gives no more (app/requests.py). */
const AHEAD_AT_ONCE = 8;
/** More layers than one are asked for at once where together they have no more weights: others wait meanwhile. */
const AHEAD_WEIGHTS = 8_000_000;
/** Up to this many bytes, all tokens' neurons of the locked layer are fetched ahead, so that hovering finds them. */
export const NEURON_BYTES = 300_000;

/**
 * @param {import("./decode.js").Trace} trace
 * @returns {number} about how many bytes one layer's message takes
 */
export function layerBytes(trace) {
  const { n_heads, n_kv_heads, head_dim } = trace.model;
  return ((n_heads + n_kv_heads) * head_dim * 4 + 24 * 10) * trace.T * (4 / 3);
}

/**
 * @param {import("./decode.js").Trace} trace
 * @returns {number} about how many bytes all neurons of a layer take
 */
export const neuronBytes = (trace) =>
  trace.T * Math.max(...trace.model.parts.ffn.map(({ neurons }) => neurons)) * 8 * (4 / 3);

/**
 * How many layers of a run are fetched ahead by one question; 0 where one alone is large.
 *
 * @param {import("./decode.js").Trace} trace
 */
export function aheadAtOnce(trace) {
  const { n_parameters, n_layers } = trace.model;
  const light = Math.max(1, Math.floor(AHEAD_WEIGHTS / (n_parameters / n_layers)));
  return Math.min(AHEAD_AT_ONCE, light, Math.floor(PREFETCH_BYTES / layerBytes(trace)));
}

/** Resolves when the browser has nothing else to do, or has had enough to do for a second. */
export const idleNow = () =>
  new Promise((resolve) =>
    "requestIdleCallback" in globalThis ? requestIdleCallback(resolve, { timeout: 1000 }) : setTimeout(resolve),
  );

const SIGNS = ["pointermove", "pointerdown", "keydown", "wheel", "touchstart", "scroll"];

/** Resolves when somebody moves, scrolls or types: a page that is only opened asks for nothing ahead. */
export const reader = () =>
  new Promise((resolve) => {
    for (const sign of SIGNS) addEventListener(sign, resolve, { capture: true, once: true, passive: true });
  });

/**
 * @typedef {import("./decode.js").Trace} Trace
 * @param {import("./store.js").State} state
 * @param {{
 *   fetchLayers: (trace: Trace, layers: number[], token: number, ahead: boolean) => Promise<boolean>;
 *   comparable: () => Trace[];
 *   used: (trace: Trace) => boolean;
 *   idle: () => Promise<unknown>;
 * }} fetching
 *   of fetching.js
 * @returns {() => Promise<void>} fetches the layers of the shown runs
 */
export function createAhead(state, { fetchLayers, comparable, used, idle }) {
  let prefetching = false;

  /**
   * The layers to fetch ahead with one question: of the missing ones those nearest to the selected.
   *
   * @param {Trace} trace
   * @returns {number[]}
   */
  function missingLayers(trace) {
    const { locked } = state;
    if (trace.generating || state.awaited) return []; // another run is about to follow
    const missing = [...Array(trace.model.n_layers).keys()].filter((layer) => !trace.layers.has(layer));
    const nearest = missing.sort((a, b) => Math.abs(a - locked.layer) - Math.abs(b - locked.layer));
    const isBeside = Math.abs(nearest[0] - locked.layer) <= 1 && layerBytes(trace) <= NEIGHBOUR_BYTES;
    return nearest.slice(0, aheadAtOnce(trace) || Number(isBeside));
  }
  const incomplete = () => comparable().find((trace) => missingLayers(trace).length);
  const isLarge = (/** @type {Trace | undefined} */ trace) => trace !== undefined && !aheadAtOnce(trace);

  /** Resolves when a reader has looked at one layer for a while. */
  async function rested() {
    for (let layer = -1; layer !== state.locked.layer;) {
      ({ layer } = state.locked);
      await new Promise((done) => setTimeout(done, RESTS));
    }
  }

  /** Fetches some layers at a time, of whatever run is then shown, until none is missing or the server fails. */
  async function prefetch() {
    if (prefetching) return;
    prefetching = true;
    for (let working = true; working && incomplete();) {
      await idle();
      if (isLarge(incomplete())) await rested();
      const trace = incomplete();
      if (!trace) continue;
      const token = Math.min(state.locked.query, trace.T - 1);
      working = (await fetchLayers(trace, missingLayers(trace), token, true)) || !used(trace);
    }
    prefetching = false;
  }
  return prefetch;
}

/**
 * @param {import("./store.js").State} state
 * @param {{
 *   fetchLayers: (trace: Trace, layers: number[], token: number) => Promise<boolean>;
 *   comparable: () => Trace[];
 * }} fetching
 *   of fetching.js
 * @returns {(layer: number) => void} is told the layer of what the pointer is on, which a click would lead to:
 *   where it rests, the layer is fetched unless it is large, so that the click finds it
 */
export function createExpected(state, { fetchLayers, comparable }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let pointed = -1;
  const lacking = (/** @type {number} */ layer) =>
    comparable().filter(
      (trace) => !trace.generating && !trace.layers.has(layer) && layerBytes(trace) <= NEIGHBOUR_BYTES,
    );
  return (layer) => {
    if (layer === pointed) return;
    clearTimeout(timer);
    pointed = lacking(layer).length ? layer : -1;
    if (pointed < 0) return;
    timer = setTimeout(() => {
      pointed = -1;
      for (const trace of lacking(layer)) fetchLayers(trace, [layer], Math.min(state.locked.query, trace.T - 1));
    }, POINTED);
  };
}
