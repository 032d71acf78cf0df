// A run of three tokens with values everywhere, for tests of what is read off it.

import { createStore } from "../../visuals/static/store.js";
import { pack, runMessage } from "./payload_help.js";

globalThis.requestAnimationFrame = () => {};

const T = 3;
const ramp = (count, from = 0.1, by = 0.07) => Array.from({ length: count }, (_, i) => Math.sin(from + by * i * i));
const round = (array) => Float32Array.from(array);

/** The run as it is published, and the values that were sent. */
export function world() {
  const q = ramp(4 * T * 4),
    k = ramp(2 * T * 4, 0.4, 0.11);
  const gate = ramp(6, 0.3, 0.5),
    up = ramp(6, 1, 0.3);
  const layer = {
    kind: "layer",
    run: "r",
    layer: 1,
    q: pack(q, [4, T, 4]),
    k: pack(k, [2, T, 4]),
    top: { neuron: pack([3, 1, 3, 1, 3, 1], [T, 2], "u2"), gate: pack(ramp(6), [T, 2]), up: pack(ramp(6), [T, 2]) },
    neurons: { kind: "neurons", run: "r", layer: 1, token: 2, gate: pack(gate), up: pack(up) },
  };
  const store = createStore();
  store.publish(runMessage([5, 6, 5], { layer, id: "r" }));
  return { store, raw: { q: round(q), k: round(k) } };
}
