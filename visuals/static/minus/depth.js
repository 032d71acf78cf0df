// What the panels that follow tokens through the depth of the network read from a run.

import { createChoices } from "../choices.js";
import { shown } from "../dom.js";
import { placeOf, partAt, rowOf } from "../panels/overview/profile.js";
import { places } from "./places.js";
import { atToken, ofPlace, ownChoice } from "./selection.js";
import { table } from "./table.js";

const QUANTITIES = { norm: ({ norm }) => norm, share: ({ norm, before }) => norm / before, cosine: ({ cosine }) => cosine };
/** A quantity of every sub-layer and token, row 0 the attention of layer 0. */
const perPart = (name) => ({ trace, details: { stream } }) =>
  Float64Array.from({ length: 2 * trace.model.n_layers * trace.T }, (_, i) => QUANTITIES[name](placeOf(stream, partAt(Math.floor(i / trace.T)), i % trace.T)));

/** A choice between two things, kept under the panel's name. */
const choiceOf = (panel, name, values) => (glass) => {
  const { element, show } = createChoices(glass, panel, name, values, () => glass.repaint(true));
  return { elements: [element], show };
};

const partName = (row, _b, _glass, text) => text(`part_${partAt(row).part}`, { layer: partAt(row).layer });
/** Which of a layer's two sub-layers is selected: the store knows the layer alone. */
const part = ownChoice("attn");
const streamRow = ({ layer }) => rowOf({ layer, part: part.now() });

const streamMap = (name) =>
  places({
    title: `added_${name}`,
    values: perPart(name),
    label: partName,
    at: streamRow,
    pick: ({ row, token }) => ({ layer: partAt(row).layer, query: token }),
    keep: (row) => part.keep(partAt(row).part),
    hover: (row) => part.hover(row === null ? null : partAt(row).part),
    scale: `n_${name}`,
    on: () => [],
    moves: { ArrowUp: upAndDown(1), ArrowDown: upAndDown(-1) },
  });

/** One sub-layer up or down the network. */
function upAndDown(by) {
  return ({ layer, trace }) => {
    const row = Math.max(0, Math.min(2 * trace.model.n_layers - 1, streamRow({ layer }) + by));
    part.keep(partAt(row).part);
    return { layer: partAt(row).layer };
  };
}

const residual = {
  without: "minus.without_quantity",
  details: () => ({ stream: ["stream", {}] }),
  at: ({ layer, query }) => `layer ${layer} ${part.now()} token ${query}`,
  of: ofPlace(({ text, state }) => partName(streamRow(state), null, null, text)),
  said: ["norm", "cosine"],
  numbers: ({ details: { stream } }, { layer, query }) => placeOf(stream, { layer, part: part.now() }, query),
  parts: (glass, text) => Object.keys(QUANTITIES).map((name) => streamMap(name)(glass, text)),
};

/** Both runs are asked about B's tokens, so that one token's numbers are subtracted. */
const followed = (glass) => glass.settings.get("lens").follow === "text";
const depthName = (row, _b, _glass, text) => (row === 0 ? text("embedding") : text("after_layer", { layer: row - 1 }));
const at = ({ trace: { T } }, row, token) => row * T + token;

const lens = {
  controls: choiceOf("lens", "follow", ["choice", "text"]),
  without: "minus.without_colour",
  details: (glass, { B }) => ({ lens: ["lens", { follow: followed(glass), other: B.id }] }),
  at: atToken,
  of: ofPlace(({ text, state }) => depthName(state.layer + 1, null, null, text)),
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

/** Who writes, of the selected layer's two sub-layers and the embedding. */
const kind = ownChoice("ffn");
/** Rows as the panel has them: the embedding, then attention and FFN of every layer. */
const writerAt = (row) => (row === 0 ? { kind: "embedding", layer: null } : { kind: row % 2 ? "attention" : "ffn", layer: Math.floor((row - 1) / 2) });
const writerRow = ({ layer }) => (kind.now() === "embedding" ? 0 : 2 * layer + (kind.now() === "attention" ? 1 : 2));
const writerName = (row, b, _glass, text) => {
  if (row > 2 * b.trace.model.n_layers) return text("patched");
  const { kind: who, layer } = writerAt(row);
  return who === "embedding" ? text("embedding") : text(`part_${who === "ffn" ? "ffn" : "attn"}`, { layer });
};
const written = ({ trace, details: { shares } }, row, token) => {
  const { kind: who, layer } = writerAt(row);
  return who === "embedding" ? shares.embedding.data[token] : shares[who].data[layer * trace.T + token];
};
/** The RMS that the final norm divides a token's vector by, and with it every part. */
const finalRms = ({ details: { shares } }, token) => shares.scale.data[token];
/** Why parts that wrote the same in both runs differ here; nothing where the two RMS are equal. */
function aboutRms(a, b, { query }, text) {
  const [first, second] = [a, b].map((run) => finalRms(run, query));
  return first === second ? "" : text("final_rms", { a: shown(first, 5), b: shown(second, 5) });
}
const writers = ({ trace }) => 2 * trace.model.n_layers + 1;

const contributions = {
  controls: choiceOf("contributions", "versus", ["alone", "second"]),
  details: (glass, { B }) => ({
    shares: ["contributions", { target: null, versus: glass.settings.get("contributions").versus === "second", other: B.id }],
  }),
  at: ({ layer, query }) => `${kind.now() === "embedding" ? "embedding" : `layer ${layer} ${kind.now()}`} token ${query}`,
  of: ofPlace(({ text, b, state }) => writerName(writerRow(state), b, null, text)),
  numbers: (run, state) => ({ contribution: written(run, writerRow(state), state.query), logit: run.details.shares.logit.data[state.query], final_rms: finalRms(run, state.query) }),
  said: ["contribution", "logit"],
  about: aboutRms,
  parts: (glass, text) => [
    places({
      values: (run) => Float64Array.from({ length: writers(run) * run.trace.T }, (_, i) => written(run, Math.floor(i / run.trace.T), i % run.trace.T)),
      label: writerName,
      at: writerRow,
      pick: ({ row, token }) => ({ ...(row === 0 ? {} : { layer: writerAt(row).layer }), query: token }),
      keep: (row) => kind.keep(writerAt(row).kind),
      hover: (row) => kind.hover(row === null ? null : writerAt(row).kind),
      scale: "n_contribution",
      first: 1,
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

export default { residual, lens, contributions };
