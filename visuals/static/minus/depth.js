// What the panels that follow tokens through the depth of the network read from a run.

import { placeOf, partAt, rowOf } from "../panels/overview/profile.js";
import { growth, placesOf } from "../panels/norm/depth.js";
import { stagesOf } from "../panels/norm/norm-vector.js";
import { readVector, request } from "../panels/norm/vector.js";
import { chosenNorm, setNorm } from "../panels/norm-choice.js";
import { places } from "./places.js";
import { strips } from "./strips.js";
import { mostChanged, table } from "./table.js";

/** A value of every sub-layer and token, row 0 the attention of layer 0. */
const perPart = (name) => ({ trace, details: { stream } }) =>
  Float64Array.from({ length: 2 * trace.model.n_layers * trace.T }, (_, i) => placeOf(stream, partAt(Math.floor(i / trace.T)), i % trace.T)[name]);

const partName = (row, _b, _glass, text) => text(`part_${partAt(row).part}`, { layer: partAt(row).layer });
/** Which of a layer's two sub-layers is selected: the store knows the layer alone. */
const chosen = { part: "attn", kind: "ffn" };
const hovered = { part: null, kind: null };
const partNow = () => hovered.part ?? chosen.part;
const kindNow = () => hovered.kind ?? chosen.kind;
const streamRow = ({ layer }) => rowOf({ layer, part: partNow() });

const streamMap = (name) =>
  places({
    title: `added_${name}`,
    values: perPart(name),
    label: partName,
    at: streamRow,
    pick: ({ row, token }) => ({ layer: partAt(row).layer, query: token }),
    keep: (row) => { chosen.part = partAt(row).part; },
    hover: (row) => { hovered.part = row === null ? null : partAt(row).part; },
    scale: `n_${name}`,
    on: () => [],
    moves: { ArrowUp: upAndDown(1), ArrowDown: upAndDown(-1) },
  });

/** One sub-layer up or down the network. */
function upAndDown(by) {
  return ({ layer, trace }) => {
    const row = Math.max(0, Math.min(2 * trace.model.n_layers - 1, streamRow({ layer }) + by));
    chosen.part = partAt(row).part;
    return { layer: partAt(row).layer };
  };
}

const residual = {
  details: () => ({ stream: ["stream", {}] }),
  at: ({ layer, query }) => `layer ${layer} ${partNow()} token ${query}`,
  said: ["norm", "cosine"],
  numbers: ({ details: { stream } }, { layer, query }) => placeOf(stream, { layer, part: partNow() }, query),
  parts: (glass, text) => [streamMap("norm")(glass, text), streamMap("cosine")(glass, text)],
};

const stages = new WeakMap();
/** x, x / RMS and its product with γ of the selected norm at the selected token; made once. */
function vectorOf({ trace, details: { vectors } }, { layer, query }, glass) {
  const vector = readVector(vectors, trace, chosenNorm(glass), layer, query);
  if (!stages.has(vector)) {
    const { x, after, product } = stagesOf(vector);
    stages.set(vector, { x, after, normed: product, rms: vector.rms });
  }
  return stages.get(vector);
}
const keptChannel = (glass) => {
  const { channel } = glass.settings.get("norm");
  return channel === undefined ? null : Number(channel);
};
const onNorm = ({ layer, query }, glass) => [layer, query, chosenNorm(glass)];

const normVector = {
  details: ({ state, settings }, sides) => {
    const norm = chosenNorm({ settings });
    return { vectors: ["norm_vectors", request(sides.B, norm, state.layer, state.query)] };
  },
  at: ({ layer, query }, glass, channel) => `${chosenNorm(glass) === "final" ? "final" : `layer ${layer} ${chosenNorm(glass)}`} token ${query} channel ${channel}`,
  said: ["x", "normed", "rms"],
  choose: (_state, a, b, pointed, glass) => {
    const [first, second] = [a, b].map((run) => vectorOf(run, glass.state, glass).x);
    return Math.min(pointed ?? keptChannel(glass) ?? mostChanged(second.map((x, i) => x - first[i])), second.length - 1);
  },
  numbers(run, state, glass, channel) {
    const { x, after, normed, rms } = vectorOf(run, state, glass);
    return { x: x[channel], after: after[channel], normed: normed[channel], rms };
  },
  parts: (glass, text) => {
    const channels = table({
      title: "channels",
      heading: "channel",
      values: (run, state) => vectorOf(run, state, glass).x,
      name: (channel) => String(channel),
      on: onNorm,
    })(glass, text);
    const channel = (_state, _glass, { x }) => Math.min(channels.pointed() ?? keptChannel(glass) ?? mostChanged(x), x.length - 1);
    return [
      strips({
        strips: [["after", "norm"], ["normed", "norm"], ["x", "residual"]],
        values: (run, state) => vectorOf(run, state, glass),
        chosen: channel,
        keep: (i) => setNorm(glass, { channel: i }),
        on: onNorm,
      })(glass, text),
      channels,
      table({
        title: "rms_by_depth",
        heading: "place",
        values: ({ trace }, { query }) => growth(trace, query),
        name: (i, { trace }) => {
          const { layer, norm } = placesOf(trace.model.n_layers)[i];
          return norm === "final" ? text("final") : text(`norm_${norm}`, { layer });
        },
        rows: 16,
        on: ({ query }) => [query],
      })(glass, text),
    ];
  },
};

/** Both runs are asked about B's tokens, so that one token's numbers are subtracted. */
const followed = (glass) => glass.settings.get("lens").follow === "text";
const depthName = (row, _b, _glass, text) => (row === 0 ? text("embedding") : text("after_layer", { layer: row - 1 }));
const at = ({ trace: { T } }, row, token) => row * T + token;

const lens = {
  details: (glass, { B }) => ({ lens: ["lens", { follow: followed(glass), other: B.id }] }),
  at: ({ layer, query }) => `layer ${layer} token ${query}`,
  numbers: (run, { layer, query }) => {
    const { probability, rank } = run.details.lens;
    const place = at(run, layer + 1, query);
    return { p: probability.data[place], rank: rank.data[place] + 1 };
  },
  parts: (glass, text) => [
    places({
      values: ({ details }) => details.lens.probability.data,
      label: depthName,
      at: ({ layer }) => layer + 1,
      pick: ({ row, token }) => ({ layer: Math.max(0, row - 1), query: token }),
      scale: "p_followed",
      on: () => [],
    })(glass, text),
    table({
      title: "p_by_depth",
      heading: "place",
      values: (run, { query }) => Float64Array.from({ length: run.trace.model.n_layers + 1 }, (_, row) => run.details.lens.probability.data[at(run, row, query)]),
      name: (row, b) => depthName(row, b, glass, text),
      pick: (row) => ({ layer: Math.max(0, row - 1) }),
      on: ({ query }) => [query],
      rows: 16,
    })(glass, text),
  ],
};

/** Rows as the panel has them: the embedding, then attention and FFN of every layer. */
const writerAt = (row) => (row === 0 ? { kind: "embedding", layer: null } : { kind: row % 2 ? "attention" : "ffn", layer: Math.floor((row - 1) / 2) });
const writerRow = ({ layer }) => (kindNow() === "embedding" ? 0 : 2 * layer + (kindNow() === "attention" ? 1 : 2));
const writerName = (row, b, _glass, text) => {
  if (row > 2 * b.trace.model.n_layers) return text("patched");
  const { kind, layer } = writerAt(row);
  return kind === "embedding" ? text("embedding") : text(`part_${kind === "ffn" ? "ffn" : "attn"}`, { layer });
};
const written = ({ trace, details: { shares } }, row, token) => {
  const { kind, layer } = writerAt(row);
  return kind === "embedding" ? shares.embedding.data[token] : shares[kind].data[layer * trace.T + token];
};
const writers = ({ trace }) => 2 * trace.model.n_layers + 1;

const contributions = {
  details: (glass, { B }) => ({
    shares: ["contributions", { target: null, versus: glass.settings.get("contributions").versus === "second", other: B.id }],
  }),
  at: ({ layer, query }) => `${kindNow() === "embedding" ? "embedding" : `layer ${layer} ${kindNow()}`} token ${query}`,
  numbers: (run, state) => ({ contribution: written(run, writerRow(state), state.query), logit: run.details.shares.logit.data[state.query] }),
  parts: (glass, text) => [
    places({
      values: (run) => Float64Array.from({ length: writers(run) * run.trace.T }, (_, i) => written(run, Math.floor(i / run.trace.T), i % run.trace.T)),
      label: writerName,
      at: writerRow,
      pick: ({ row, token }) => ({ ...(row === 0 ? {} : { layer: writerAt(row).layer }), query: token }),
      keep: (row) => { chosen.kind = writerAt(row).kind; },
      hover: (row) => { hovered.kind = row === null ? null : writerAt(row).kind; },
      scale: "n_contribution",
      on: () => [],
    })(glass, text),
    table({
      title: "writers",
      heading: "place",
      values: (run, { query }) => Float64Array.from({ length: writers(run) + 1 }, (_, row) => (row === writers(run) ? run.details.shares.patched.data[query] : written(run, row, query))),
      name: (row, b) => writerName(row, b, glass, text),
      on: ({ query }) => [query],
      rows: 16,
    })(glass, text),
  ],
};

export default { residual, "norm-vector": normVector, lens, contributions };
