// Where the parts of a circuit stand: stacks, columns of tokens, rows of layers. Pure.

/**
 * @typedef {import("../../decoded.d.ts").Detail<"circuit">} Circuit
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
 * @typedef {{ from: number; to: number; empty: boolean }} Row
 */

/**
 * What is drawn of a network's stacks, from the top: the decoder above the encoder whose source it looks at.
 *
 * @param {Pick<Circuit, "nodes" | "differ" | "other_pieces" | "written">} circuit
 * @param {Pick<import("../../decode.js").Trace, "encoder" | "tokens" | "model">} trace
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

/**
 * The columns: tokens that hold a node, those that differ, and where it answers the last.
 *
 * @param {Pick<Stack, "nodes" | "differ" | "pieces" | "answers">} stack
 * @returns {number[]}
 */
export function columnsOf({ nodes, differ, pieces, answers }) {
  return [...new Set([...nodes.map(({ token }) => token), ...differ, ...(answers ? [pieces.length - 1] : [])])].sort(
    (a, b) => a - b,
  );
}

/**
 * The rows from the top: layers that hold a node, and between them the stretches of layers that hold none.
 *
 * @param {Pick<Stack, "nodes">} stack
 * @param {number} count of all layers
 * @returns {Row[]}
 */
export function rowsOf({ nodes }, count) {
  /** @type {Row[]} */
  const rows = [];
  for (let layer = count - 1; layer >= 0; layer -= 1) {
    const empty = !nodes.some((node) => node.layer === layer);
    const last = rows.at(-1);
    if (empty && last?.empty) last.from = layer;
    else rows.push({ from: layer, to: layer, empty });
  }
  return rows;
}
