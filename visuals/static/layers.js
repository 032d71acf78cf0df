// Layers of a run that it did not bring with it, and neurons of their tokens.

import { decodeAllNeurons, decodeLayer, decodeNeurons } from "./decode.js";
import { NEURON_BYTES, neuronBytes } from "./prefetch.js";

/**
 * @typedef {import("./decode.js").Trace} Trace
 * @param {import("./types.d.ts").Store} store
 * @param {Pick<import("./types.d.ts").Server, "layer" | "neurons">} server
 * @param {ReturnType<typeof import("./questions.js").createOnce>} once
 * @param {(trace: Trace) => boolean} used whether panels show a run
 * @param {() => Promise<unknown>} idle
 */
export function createLayers({ state, previewing }, server, once, used, idle) {
  /**
   * @param {Trace} trace
   * @param {number} layer
   * @param {number} token whose neurons come along
   * @returns {Promise<boolean>} whether it is there
   */
  function fetchLayer(trace, layer, token) {
    if (trace.layers.has(layer)) return Promise.resolve(true);
    return once(
      `${trace.id} ${layer}`,
      trace,
      () => server.layer({ run: trace.id, layer, token }),
      (payload) => trace.layers.set(layer, decodeLayer(payload, trace.model)),
    );
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
      () => server.neurons({ run: trace.id, layer, token }),
      (payload) => held.neurons.set(token, decodeNeurons(payload, held.ffn)),
    );
  }

  /**
   * All tokens' neurons of the locked layer, if they are small.
   *
   * @param {Trace} trace
   */
  async function fetchAllNeurons(trace) {
    await idle();
    const { layer } = state.locked;
    const held = trace.layers.get(layer);
    if (!held || !used(trace) || held.neurons.size === trace.T || neuronBytes(trace) > NEURON_BYTES) return;
    await once(
      `${trace.id} ${layer} all`,
      trace,
      () => server.neurons({ run: trace.id, layer, token: null }),
      (payload) => {
        held.neurons = decodeAllNeurons(payload, held.ffn);
      },
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
    if (!(await fetchLayer(trace, layer, query))) return;
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
    if (!held && !previewing()) fetchLayer(trace, layer, trace.T - 1);
    return held;
  }
  return { fetchLayer, fetchSelected, layerOf };
}
