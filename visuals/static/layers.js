// Layers of a run that it did not bring with it, and neurons of their tokens.

import { decodeAllNeurons, decodeLayer, decodeNeurons } from "./decode.js";
import { NEURON_BYTES, neuronBytes } from "./prefetch.js";

/**
 * @typedef {import("./decode.js").Trace} Trace
 * @param {import("./types.d.ts").Store} store
 * @param {Pick<import("./types.d.ts").Server, "layers" | "neurons">} server
 * @param {ReturnType<typeof import("./questions.js").createOnce>} once
 * @param {(trace: Trace) => boolean} used whether panels show a run
 * @param {() => Promise<unknown>} idle
 */
export function createLayers({ state, previewing }, server, once, used, idle) {
  /**
   * @param {Trace} trace
   * @param {number[]} layers up to AHEAD_AT_ONCE (prefetch.js) of them
   * @param {number} token whose neurons come along
   * @param {boolean} [ahead] before anyone looks at them: then they may come late. Who looks at one of them asks
   *   again
   * @returns {Promise<boolean>} whether they are there
   */
  async function fetchLayers(trace, layers, token, ahead = false) {
    const nameOf = (/** @type {number} */ layer, isAhead = ahead) => `${trace.id} layer ${layer} ahead ${isAhead}`;
    const comingOf = (/** @type {number} */ layer) =>
      once.comingOf(nameOf(layer, false), trace, false) ??
      (ahead ? once.comingOf(nameOf(layer), trace, true) : undefined);
    const missing = layers.filter((layer) => !trace.layers.has(layer));
    const asked = missing.filter((layer) => !comingOf(layer));
    if (asked.length)
      once(
        asked.map((layer) => nameOf(layer)),
        trace,
        () => server.layers({ run: trace.id, layers: asked, token, ahead }),
        (payload) => {
          for (const one of payload.layers)
            if (!trace.layers.has(one.layer)) trace.layers.set(one.layer, decodeLayer(one, trace.model));
        },
        ahead,
      );
    return (await Promise.all(missing.map(comingOf))).every(Boolean);
  }

  /**
   * @param {Trace} trace
   * @param {number} layer
   * @param {number} token
   */
  function fetchNeurons(trace, layer, token) {
    const held = trace.layers.get(layer);
    if (!held || held.neurons.has(token)) return;
    once(
      `${trace.id} ${layer} ${token}`,
      trace,
      () => server.neurons({ run: trace.id, layer, token, ahead: false }),
      (payload) => held.neurons.set(token, decodeNeurons(payload, held.ffn)),
    );
  }

  /**
   * All tokens' neurons of the locked layer, if they are small, and no other run is about to follow.
   *
   * @param {Trace} trace
   */
  async function fetchAllNeurons(trace) {
    await idle();
    const { layer } = state.locked;
    const held = trace.layers.get(layer);
    if (trace.generating || state.awaited || neuronBytes(trace) > NEURON_BYTES) return;
    if (!held || !used(trace) || held.neurons.size === trace.T) return;
    await once(
      `${trace.id} ${layer} all`,
      trace,
      () => server.neurons({ run: trace.id, layer, token: null, ahead: true }),
      (payload) => {
        held.neurons = decodeAllNeurons(payload, held.ffn);
      },
      true,
    );
  }

  /**
   * What the locked selection needs of a run.
   *
   * @param {Trace} trace
   */
  async function fetchSelected(trace) {
    const { layer } = state.locked;
    const query = Math.min(state.locked.query, trace.T - 1); // the run kept as A may be shorter
    if (!(await fetchLayers(trace, [layer], query))) return;
    fetchNeurons(trace, layer, query);
    fetchAllNeurons(trace);
  }

  /**
   * A layer of one of two runs that are compared, whichever is shown; null until it has come. Then the panels are
   * drawn again.
   *
   * @param {Trace} trace
   * @param {number} layer
   */
  function layerOf(trace, layer) {
    const held = trace.layers.get(layer) ?? null;
    if (!held && !previewing()) fetchLayers(trace, [layer], trace.T - 1);
    return held;
  }
  return { fetchLayers, fetchSelected, layerOf };
}
