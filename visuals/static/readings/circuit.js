// Which heads and FFNs carry the difference that another word makes, and how much of it; and what could refute that,
// which is measured once the circuit is known.

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
 *   `values`: shares of the difference, of the circuit itself (`recovered`) and of all others (`without`); `largest`:
 *   the score of the part that carries most
 *
 * @typedef {ReturnType<typeof sentNode>[]} SentNodes
 *
 * @typedef {import("./reading.js").Reading<{ token: number; text: string; nodes: SentNodes }> & {
 *   pairs: import("../decoded.d.ts").Detail<"circuit_controls">["held_out"];
 * }} ControlsReading
 *   `values`: shares of the difference, of as many parts that change most (`by_change`), of as many drawn by lot, the
 *   one that carries most (`by_lot`), and, where there are some, the circuit's mean with other words (`held_out`)
 */

/**
 * A part of a circuit as the server is asked about it.
 *
 * @param {Pick<Circuit["nodes"][number], "layer" | "head" | "token" | "kind" | "stack">} node
 */
const sentNode = ({ layer, head, token, kind, stack }) => [layer, head, token, ...(stack ? [kind, stack] : [])];
/** @param {Pick<Circuit, "nodes">} circuit */
export const sentNodes = ({ nodes }) => nodes.map(sentNode);

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
    const { recovered, without, nodes } = circuit;
    return {
      selection,
      circuit,
      stacks: stacksOf(circuit, trace),
      largest: Math.abs(furthest(nodes.map(({ score }) => score))),
      at: `after ${selection.token} parts ${nodes.length}`,
      values: { recovered, without },
      rows: { parts: () => tableOf(nodes) },
    };
  },
};

/** @type {import("./reading.js").Reader<ControlsReading>} */
export const controlsReader = {
  needs: (_trace, asked) => ({ found: ["circuit_controls", asked] }),
  read({ details }, selection) {
    /** @type {import("../decoded.d.ts").Detail<"circuit_controls">} */
    const { by_chance: chance, by_change, held_out: pairs } = details.found;
    const mean = pairs.reduce((sum, { share }) => sum + share, 0) / pairs.length;
    return {
      selection,
      pairs,
      at: "",
      values: { by_change, by_lot: furthest(chance), ...(pairs.length && { held_out: mean }) },
      rows: {
        pairs: () => ({ keys: { pair: pairs.map((_, i) => i) }, columns: { share: pairs.map(({ share }) => share) } }),
      },
    };
  },
};
