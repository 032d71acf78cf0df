// The loaded model as a diagram, drawn from its config, with the run's real tensors beside every part.

import { exact, h, shown, signed, svg as s } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { centres, normForms } from "../../parts.js";
import { ownChoice } from "../../pointed.js";
import { inView, widthOf } from "../../pointing.js";
import { still } from "../../pointer-rest.js";
import { memo } from "../../reads.js";
import { createDiagram } from "./diagram.js";
import { nameParts, nameTensors, positionOf } from "./labels.js";
import { createPlayer } from "./play.js";
import { crosses, rowFor, rowsOf, shapeText, sideBySide, tensorOf } from "./rows.js";
import { createBand } from "./stacks.js";
import { sumsOf } from "./sums.js";

/** In which form the diagram speaks of a network: its norms, that of the embedding, and parts side by side. */
const forms = (model) => [
  ...(model.parts.causal === false ? ["sees_all"] : []),
  ...(model.parts.embed_norm ? ["normed"] : []),
  ...(sideBySide(model) ? ["parallel"] : []),
  ...normForms(model),
];

export const about = {
  tensors: ["resid_in", "attn_normed", "attn_out", "resid_mid", "ffn_normed", "ffn_out", "resid_out", "logits"],
  difference: "overview",
  forms,
};

/** The row that is looked at; an index of its values. */
export const row = ownChoice("attn");
/** The same, in a network that may not have it. */
export const rowIn = ({ trace }) => rowFor(trace.model, row.now());
const channel = ownChoice(null);
/** Which value of the row is looked at; null for the one that speaks for itself. */
export const chosenIndex = () => channel.under() ?? (row.now() === row.kept() ? channel.kept() : null);

/** The diagram and the walk through it: pointing at a row or a value looks at it, a click keeps it. */
export function createView(glass) {
  const svg = s("svg.ov-diagram");
  const go = (key) => {
    row.keep(key);
    channel.keep(null);
    leave();
  };
  const player = createPlayer(glass, { now: row.kept, go });
  const pointing =
    (act) =>
    (...values) => {
      if (player.playing()) return;
      act(...values);
      glass.repaint();
    };
  const diagram = createDiagram(svg, {
    hover: pointing((key) => {
      row.hover(key);
      channel.hover(null);
    }),
    choose(key) {
      channel.keep(channel.now());
      row.keep(key);
      glass.repaint();
    },
    open: (key) => glass.open(rowsOf(glass.state.trace.model).find((one) => one.key === key).chapter),
    channel: pointing((_key, index, lock) => {
      channel.hover(index);
      if (lock) channel.keep(index);
    }),
  });
  function leave() {
    row.hover(null);
    channel.hover(null);
    glass.repaint();
  }
  svg.addEventListener("pointerleave", leave);
  return { svg, player, diagram, room: h("div.ov-room", null, svg) };
}

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function overview(element, glass) {
  const { state } = glass;
  const { svg, player, diagram, room } = createView(glass);
  let run = null;
  const table = () => [
    ["row", "tensor", "shape", "index", "value"],
    ...(run ? rowsOf(run.trace.model) : []).flatMap(({ key }) => {
      const { name, shape, values, ids } = tensorOf(key, run);
      return Array.from(values ?? [], (x, i) => [key, name, shapeText(shape), ids ? ids[i] : i, x]);
    }),
  ];
  const panel = frame(element, glass, "overview", { svg: () => svg, csv: table, parts: ["what", "formula", "myth"] });
  const say = h("p.ov-say");
  const sums = h("div.gp-formula.ov-sums");
  const band = createBand(glass, panel.text);
  panel.body.append(band.element, player.element, say, sums, room);
  still(say);
  const wide = widthOf(room, glass);

  /** Shapes, sizes and strips of all rows for the token that is looked at. */
  function tensors() {
    nameTensors(diagram, run);
    for (const { key } of rowsOf(run.trace.model)) {
      const parts = diagram.row(key);
      const tensor = tensorOf(key, run);
      parts.size.textContent = sizeText(key, tensor);
      const drawn = diagram.drawStrip(key, tensor.values, key === "softmax");
      parts.limit.textContent =
        drawn && key !== "softmax" ? `±${shown(drawn.limit, 3)}` : drawn ? `0–${shown(drawn.limit, 3)}` : "";
    }
  }

  function sizeText(key, { norm }) {
    const { token, trace, stream } = run;
    if (key === "ids") return panel.text("id", { id: trace.tokens.ids[token] });
    if (!stream) return "…";
    if (key === "head") return panel.text("largest", { value: shown(stream.best.logit.data[token], 5) });
    if (key === "softmax") return panel.text("largest", { value: shown(stream.best.probability.data[token], 4) });
    return panel.text("length", { value: shown(norm, 5) });
  }

  /** What happens at the row, as a sentence with the run's numbers. */
  function sentence(key) {
    const { trace, layer, token, stream } = run;
    const { model, T, rms, mean } = trace;
    const at = layer * T + token;
    const divided = (name, i) => ({
      rms: shown(rms[name].data[i], 5),
      mean: centres(model) ? shown(mean[name].data[i], 5) : "",
      norm: norm(`${name}_norm`),
    });
    const norm = (name) => shown(tensorOf(name, run).norm, 5);
    const piece = visible(trace.tokens.pieces[token]);
    const common = { ...model, layer, token, piece, id: trace.tokens.ids[token], tokens: T, last: model.n_layers - 1 };
    const of = {
      ids: () => ({}),
      embed: () => ({ norm: norm("embed") }),
      before: () => ({ norm: norm("before") }),
      attn_norm: () => divided("attn", at),
      attn: () => ({ norm: norm("attn"), cosine: signed(stream.attn_cosine.data[at], 3) }),
      attn_add: () => ({ from: norm("before"), to: norm("attn_add") }),
      cross_norm: () => divided("cross", at),
      cross: () => ({ norm: norm("cross"), cosine: signed(stream.cross_cosine.data[at], 3), source: trace.encoder.T }),
      cross_add: () => ({ from: norm("attn_add"), to: norm("cross_add") }),
      ffn_norm: () => divided("ffn", at),
      ffn: () => ({ ...model.parts.ffn[layer], norm: norm("ffn"), cosine: signed(stream.ffn_cosine.data[at], 3) }),
      ffn_add: () => ({
        from: norm(sideBySide(model) ? "before" : crosses(model) ? "cross_add" : "attn_add"),
        to: norm("ffn_add"),
      }),
      after: () => ({ norm: norm("after") }),
      final_norm: () => divided("final", token),
      head: () => ({ best: visible(stream.best.pieces[token]), logit: shown(stream.best.logit.data[token], 5) }),
      softmax: () => ({ best: visible(stream.best.pieces[token]), p: shown(stream.best.probability.data[token], 4) }),
    };
    const { activation, gated, experts } = model.parts.ffn[layer];
    const name =
      key === "attn" && model.parts.latent
        ? "attn_latent"
        : key !== "ffn"
          ? key
          : experts
            ? "experts"
            : gated && activation === "silu"
              ? "ffn"
              : "ffn_plain";
    const said = panel.text(`say_${name}`, { ...common, ...of[key]() });
    return key === "attn" ? `${said} ${positionOf(model, panel.text)}` : said;
  }

  /** The row that is looked at: its sentence, its arithmetic, one of its values. */
  function tell() {
    const key = rowIn(state);
    const { token, layer, stage, ends, stream, trace } = run;
    diagram.activate(key);
    if (!stream) return;
    say.textContent = sentence(key);
    const { name, values, ids, norm } = tensorOf(key, run);
    for (const one of rowsOf(trace.model)) diagram.markChannel(one.key, null);
    const where = `${key} layer ${layer} token ${token} ${name}`;
    const length = norm === null ? "" : ` norm=${exact(norm)}`;
    if (!values || !(stage && ends)) {
      sums.replaceChildren(
        h(
          "p",
          null,
          key === "ids"
            ? panel.text("ids_note", { piece: visible(trace.tokens.pieces[token]), id: trace.tokens.ids[token] })
            : panel.text("locked_only"),
        ),
      );
      return panel.tell(
        `${where}${length}`,
        panel.text("read_row", { name, piece: visible(trace.tokens.pieces[token]) }),
      );
    }
    const wanted = chosenIndex();
    const j = wanted !== null && wanted < values.length ? wanted : largest(values, key);
    diagram.markChannel(key, j);
    const index = ids ? ids[j] : j;
    sums.replaceChildren(...sumsOf(key, run, values, j, ids));
    panel.tell(
      `${where}${length} channel ${index} value=${exact(values[j])}`,
      panel.text(ids ? "read_token" : "read", {
        name,
        index,
        value: shown(values[j], 5),
        piece: visible(trace.tokens.pieces[token]),
      }),
    );
  }

  const largest = (values, key) => {
    const size = key === "head" ? (x) => x : Math.abs;
    let best = 0;
    for (let i = 1; i < values.length; i++) if (size(values[i]) > size(values[best])) best = i;
    return best;
  };

  const build = memo((width, model) => diagram.build(width, model));
  const name = memo(() => nameParts(diagram, run, panel.text));
  const fill = memo(() => tensors());
  return inView(element, function draw() {
    const { trace, layer, query: token } = state;
    const stream = glass.detail("stream");
    const stage = glass.detail("stage", { layer, token });
    const ends = glass.detail("ends", { token });
    if (player.playing() && layer + 1 < trace.model.n_layers) glass.detail("stage", { layer: layer + 1, token });
    const width = wide();
    if (width === 0) return;
    run = { trace, layer, token, stream, stage, ends };
    build(width, trace.model);
    name(width, trace, layer);
    fill(width, ...Object.values(run));
    const { model } = trace;
    panel.title.textContent = panel.text("title", {
      ...model,
      name: glass.modelName(model.name),
      piece: visible(trace.tokens.pieces[token]),
    });
    player.show();
    band.draw();
    tell();
  });
}
