// Which heads and FFNs carry the difference that another word makes, how much of it, and what could refute that.

/**
 * @typedef {import("../decoded.d.ts").Detail<"circuit">} Circuit
 *
 * @typedef {object} Stack
 * @property {"decoder" | "encoder" | null} stack
 * @property {Circuit["nodes"]} nodes
 * @property {number[]} differ the tokens that are another in the other text
 * @property {string[]} pieces of the text that it reads
 * @property {string[]} theirs of the other text
 * @property {number} layers
 * @property {boolean} answers
 *
 * @typedef {object} CircuitSelection
 * @property {number} token the position that is asked about
 * @property {string} text the other text
 * @property {number | null} nodes how many parts; null: as many as are needed
 *
 * @typedef {import("./reading.js").Reading<CircuitSelection> & {
 *   circuit: Circuit;
 *   stacks: Stack[];
 *   largest: number;
 * }} CircuitReading
 *   `values`: shares of the difference, of the circuit itself (`recovered`), of as many parts that change most
 *   (`by_change`), of as many drawn by lot, the one that carries most (`by_lot`), of all others (`without`), and,
 *   where there are some, the circuit's mean with other words (`held_out`); `largest`: the score of the part that
 *   carries most
 */

/**
 * What is drawn of a network's stacks, from the top: the decoder above the encoder whose source it looks at.
 *
 * @param {Pick<Circuit, "nodes" | "differ" | "other_pieces" | "written">} circuit
 * @param {Pick<import("../decode.js").Trace, "encoder" | "tokens" | "model">} trace
 * @returns {Stack[]}
 */
export function stacksOf({ nodes, differ, other_pieces: theirs, written }, { encoder, tokens: { pieces }, model }) {
  if (!encoder)
    return [
      {
        stack: null,
        nodes,
        differ,
        pieces: pieces.slice(0, theirs.length),
        theirs,
        layers: model.n_layers,
        answers: true,
      },
    ];
  /** @param {"decoder" | "encoder"} stack */
  const of = (stack) => ({ stack, nodes: nodes.filter((node) => node.stack === stack) });
  return [
    {
      ...of("decoder"),
      differ: [],
      pieces: pieces.slice(0, written ?? undefined),
      theirs: [],
      layers: model.n_layers,
      answers: true,
    },
    { ...of("encoder"), differ, pieces: encoder.tokens.pieces, theirs, layers: encoder.model.n_layers, answers: false },
  ];
}

/** The value that is largest by its size. @param {number[]} values */
const furthest = (values) => values.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);

/**
 * A row for each part.
 *
 * @param {Circuit["nodes"]} nodes
 * @returns {import("./reading.js").Table}
 */
const tableOf = (nodes) => ({
  keys: {
    stack: nodes.map(({ stack }) => stack ?? ""),
    part: nodes.map(({ kind }) => kind),
    layer: nodes.map(({ layer }) => layer),
    head: nodes.map(({ head }) => head ?? ""),
    token: nodes.map(({ token }) => token),
  },
  columns: { score: nodes.map(({ score }) => score) },
});

/** @type {import("./reading.js").Reader<CircuitReading>} */
export const circuitReader = {
  needs: (_trace, { token, text, nodes }) => ({ found: ["circuit", { token, text, nodes }] }),
  read({ trace, details }, selection) {
    /** @type {Circuit} */
    const circuit = details.found;
    const { recovered, without, by_change, by_chance: chance, held_out: heldOut, nodes } = circuit;
    const mean = heldOut.reduce((sum, { share }) => sum + share, 0) / heldOut.length;
    return {
      selection,
      circuit,
      stacks: stacksOf(circuit, trace),
      largest: Math.abs(furthest(nodes.map(({ score }) => score))),
      at: `after ${selection.token} parts ${nodes.length}`,
      values: { recovered, by_change, by_lot: furthest(chance), without, ...(heldOut.length && { held_out: mean }) },
      rows: { parts: () => tableOf(nodes) },
    };
  },
};
