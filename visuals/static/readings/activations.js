// What is read of other activations on a layer's own gate and up values: how many neurons they silence, how steep they
// are there, and how much of what the layer writes would change.

/**
 * @typedef {import("../decoded.d.ts").Detail<"activation_kinds">} Kinds
 *
 * @typedef {{ layer: number; query: number }} KindsSelection
 *
 * @typedef {object} KindRow one kind of feed-forward at one token
 * @property {string} name of model/replaced/activations.py
 * @property {string} bends the function, of activations.js
 * @property {boolean} gated
 * @property {number} matrices
 * @property {number} zeros neurons that it scales by exactly 0
 * @property {number} slope the mean of f′ over the neurons
 * @property {number} length of what the layer would write
 * @property {number} change of it, relative to what the layer writes
 *
 * @typedef {import("./reading.js").Reading<KindsSelection> & {
 *   kinds: KindRow[];
 *   own: KindRow;
 *   neurons: number;
 *   closed: number;
 *   apart: { tanh: number; sigmoid: number };
 * }} KindsReading
 *   `closed`: neurons whose activation reads 0 or less; `apart`: change from exact GELU to its two approximations
 */

/** The four of the table that textbooks have, in its order; and those that stand beside them. */
export const TEXTBOOK = ["relu", "swish", "glu", "swiglu"];
const GATED = new Set(["glu", "swiglu", "reglu", "geglu", "geglu_new", "geglu_sigmoid"]);

/**
 * A token's kinds, in the order of the textbooks' table, then the others.
 *
 * @param {Kinds} found
 * @param {number} token
 * @returns {KindRow[]}
 */
function kindsAt(found, token) {
  const tokens = found.zeros.shape[1];
  const rows = found.kinds.map((name, i) => {
    const at = i * tokens + token;
    const gated = GATED.has(name);
    const [zeros, slope] = [found.zeros.data[at], found.slope.data[at]];
    const numbers = { zeros, slope, length: found.length.data[at], change: found.change.data[at] };
    return { name, bends: found.functions[i], gated, matrices: gated ? 3 : 2, ...numbers };
  });
  const first = TEXTBOOK.flatMap((name) => rows.filter((row) => row.name === name));
  return [...first, ...rows.filter(({ name }) => !TEXTBOOK.includes(name))];
}

/**
 * @param {KindRow[]} kinds
 * @returns {import("./reading.js").Table}
 */
const tableOf = (kinds) => ({
  keys: { kind: kinds.map(({ name }) => name) },
  columns: {
    matrices: kinds.map(({ matrices }) => matrices),
    zeros: kinds.map(({ zeros }) => zeros),
    mean_slope: kinds.map(({ slope }) => slope),
    length: kinds.map(({ length }) => length),
    change: kinds.map(({ change }) => change),
  },
});

/** @type {import("./reading.js").Reader<KindsReading>} */
export const activationKinds = {
  needs: (_trace, { layer }) => ({ found: ["activation_kinds", { layer }] }),
  read({ details: { found } }, selection) {
    const kinds = kindsAt(found, selection.query);
    const own = kinds.find(({ name }) => name === found.own) ?? kinds[0];
    const closed = kinds[0].zeros; // of ReLU
    const tokens = found.apart.shape[1];
    const [tanh, sigmoid] = [0, 1].map((i) => found.apart.data[i * tokens + selection.query]);
    const changes = kinds.map(({ name, change }) => /** @type {[string, number]} */ ([name, change]));
    return {
      selection,
      kinds,
      own,
      neurons: found.neurons,
      closed,
      apart: { tanh, sigmoid },
      at: `layer ${selection.layer} token ${selection.query} own ${found.own}`,
      values: { neurons: found.neurons, closed, ...Object.fromEntries(changes), tanh, sigmoid },
      rows: { kinds: () => tableOf(kinds) },
    };
  },
};
