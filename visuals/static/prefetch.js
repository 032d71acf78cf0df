// What is fetched before anyone asks for it, when the browser is idle: which layers, and how large they may be.

/** Layers up to this many bytes each are fetched ahead, when the browser is idle. */
const PREFETCH_BYTES = 1_000_000;
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
 *   fetchLayer: (trace: Trace, layer: number, token: number) => Promise<boolean>;
 *   comparable: () => Trace[];
 *   used: (trace: Trace) => boolean;
 *   idle: () => Promise<unknown>;
 * }} fetching
 *   of fetching.js
 * @returns {() => Promise<void>} fetches the layers of the shown runs
 */
export function createAhead(state, { fetchLayer, comparable, used, idle }) {
  let prefetching = false;

  /**
   * The layer to fetch ahead: the missing one nearest to the selected; undefined when none is, or a layer is large.
   *
   * @param {Trace} trace
   */
  function missingLayer(trace) {
    const { locked } = state;
    if (trace.generating || layerBytes(trace) > PREFETCH_BYTES) return undefined; // a longer run is about to follow
    const missing = [...Array(trace.model.n_layers).keys()].filter((layer) => !trace.layers.has(layer));
    return missing.sort((a, b) => Math.abs(a - locked.layer) - Math.abs(b - locked.layer))[0];
  }
  const incomplete = () => comparable().find((trace) => missingLayer(trace) !== undefined);

  /** Fetches one layer at a time, of whatever run is then shown, until there is none to fetch or the server fails. */
  async function prefetch() {
    if (prefetching) return;
    prefetching = true;
    for (let working = true; working && incomplete();) {
      await idle();
      const trace = incomplete();
      const layer = trace && missingLayer(trace);
      if (!trace || layer === undefined) continue;
      const token = Math.min(state.locked.query, trace.T - 1);
      working = (await fetchLayer(trace, layer, token)) || !used(trace);
    }
    prefetching = false;
  }
  return prefetch;
}
