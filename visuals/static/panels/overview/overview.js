// The loaded model as a diagram, drawn from its config, with the run's real tensors beside every part.

import { exact, h, shown, signed, svg as s } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { inView, widthOf } from "../../pointing.js";
import { still } from "../../still.js";
import { part, watched } from "../../reads.js";
import { createDiagram } from "./diagram.js";
import { nameParts, nameTensors } from "./labels.js";
import { createPlayer } from "./play.js";
import { indexOf, ROWS, shapeText, tensorOf } from "./rows.js";
import { sumsOf } from "./sums.js";

export const about = { tensors: ["resid_in", "attn_normed", "attn_out", "resid_mid", "ffn_normed", "ffn_out", "resid_out", "logits"], minus: "overview" };

/** @param {HTMLElement} element @param {object} glass */
export default function overview(element, glass) {
  const { state } = glass;
  const svg = s("svg.ov-diagram");
  let run = null;
  const table = () => [
    ["row", "tensor", "shape", "index", "value"],
    ...(run ? ROWS : []).flatMap(({ key }) => {
      const { name, shape, values, ids } = tensorOf(key, run);
      return Array.from(values ?? [], (x, i) => [key, name, shapeText(shape), ids ? ids[i] : i, x]);
    }),
  ];
  const panel = frame(element, glass, "overview", { svg: () => svg, csv: table, parts: ["what", "formula", "myth"] });
  // `row` is locked by a click or the walk, `hovered` is under the pointer; `channel` an index of the row's values.
  const view = watched({ row: "attn", hovered: null, channel: null, pointed: null }, glass.repaint);
  const active = () => view.hovered ?? view.row;
  const player = createPlayer(glass, {
    now: () => view.row,
    go(key) {
      Object.assign(view, { row: key, hovered: null, channel: null, pointed: null });
    },
  });
  const say = h("p.ov-say");
  const sums = h("div.gp-formula.ov-sums");
  const room = h("div.ov-room", null, svg);
  panel.body.append(player.element, say, sums, room);
  still(say);
  const wide = widthOf(room, glass);

  const diagram = createDiagram(svg, {
    hover: (key) => void (player.playing() || Object.assign(view, { hovered: key, pointed: null })),
    choose: (key) => void Object.assign(view, { row: key, channel: view.pointed ?? view.channel }),
    open: (key) => glass.open(ROWS[indexOf(key)].chapter),
    channel(key, index, lock) {
      if (player.playing()) return;
      view.pointed = index;
      if (lock) view.channel = index;
    },
  });
  svg.addEventListener("pointerleave", () => void Object.assign(view, { hovered: null, pointed: null }));

  /** Shapes, sizes and strips of all rows for the token that is looked at. */
  function tensors() {
    nameTensors(diagram, run);
    for (const { key } of ROWS) {
      const parts = diagram.row(key);
      const tensor = tensorOf(key, run);
      parts.size.textContent = sizeText(key, tensor);
      const drawn = diagram.drawStrip(key, tensor.values, key === "softmax");
      parts.limit.textContent = drawn && key !== "softmax" ? `±${shown(drawn.limit, 3)}` : drawn ? `0–${shown(drawn.limit, 3)}` : "";
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
    const { model, T, rms } = trace;
    const at = layer * T + token;
    const norm = (name) => shown(tensorOf(name, run).norm, 5);
    const piece = visible(trace.tokens.pieces[token]);
    const common = { ...model, layer, token, piece, id: trace.tokens.ids[token], tokens: T, last: model.n_layers - 1 };
    const of = {
      ids: () => ({}),
      embed: () => ({ norm: norm("embed") }),
      before: () => ({ norm: norm("before") }),
      attn_norm: () => ({ rms: shown(rms.attn.data[at], 5), norm: norm("attn_norm") }),
      attn: () => ({ norm: norm("attn"), cosine: signed(stream.attn_cosine.data[at], 3) }),
      attn_add: () => ({ from: norm("before"), to: norm("attn_add") }),
      ffn_norm: () => ({ rms: shown(rms.ffn.data[at], 5), norm: norm("ffn_norm") }),
      ffn: () => ({ norm: norm("ffn"), cosine: signed(stream.ffn_cosine.data[at], 3) }),
      ffn_add: () => ({ from: norm("attn_add"), to: norm("ffn_add") }),
      after: () => ({ norm: norm("after") }),
      final_norm: () => ({ rms: shown(rms.final.data[token], 5), norm: norm("final_norm") }),
      head: () => ({ best: visible(stream.best.pieces[token]), logit: shown(stream.best.logit.data[token], 5) }),
      softmax: () => ({ best: visible(stream.best.pieces[token]), p: shown(stream.best.probability.data[token], 4) }),
    };
    return panel.text(`say_${key}`, { ...common, ...of[key]() });
  }

  /** The row that is looked at: its sentence, its arithmetic, one of its values. */
  function tell() {
    const key = active();
    const { token, layer, stage, ends, stream, trace } = run;
    diagram.activate(key);
    if (!stream) return;
    say.textContent = sentence(key);
    const { name, values, ids, norm } = tensorOf(key, run);
    for (const one of ROWS) diagram.markChannel(one.key, null);
    const where = `${key} layer ${layer} token ${token} ${name}`;
    const length = norm === null ? "" : ` norm=${exact(norm)}`;
    if (!values || !(stage && ends)) {
      sums.replaceChildren(h("p", null, key === "ids" ? panel.text("ids_note", { piece: visible(trace.tokens.pieces[token]), id: trace.tokens.ids[token] }) : panel.text("locked_only")));
      return panel.tell(`${where}${length}`, panel.text("read_row", { name, piece: visible(trace.tokens.pieces[token]) }));
    }
    const wanted = view.pointed ?? (key === view.row ? view.channel : null);
    const j = wanted !== null && wanted < values.length ? wanted : largest(values, key);
    diagram.markChannel(key, j);
    const index = ids ? ids[j] : j;
    sums.replaceChildren(...sumsOf(key, run, values, j, ids));
    panel.tell(`${where}${length} channel ${index} value=${exact(values[j])}`, panel.text(ids ? "read_token" : "read", { name, index, value: shown(values[j], 5), piece: visible(trace.tokens.pieces[token]) }));
  }

  const largest = (values, key) => {
    const size = key === "head" ? (x) => x : Math.abs;
    let best = 0;
    for (let i = 1; i < values.length; i++) if (size(values[i]) > size(values[best])) best = i;
    return best;
  };

  const build = part((width) => diagram.build(width));
  const name = part(() => nameParts(diagram, run, panel.text));
  const fill = part(() => tensors());
  return inView(element, function draw() {
    const { trace, layer, query: token } = state;
    const stream = glass.detail("stream");
    const stage = glass.detail("stage", { layer, token });
    const ends = glass.detail("ends", { token });
    if (player.playing() && layer + 1 < trace.model.n_layers) glass.detail("stage", { layer: layer + 1, token });
    const width = wide();
    if (width === 0) return;
    run = { trace, layer, token, stream, stage, ends };
    build(width);
    name(width, trace, layer);
    fill(width, ...Object.values(run));
    const { model } = trace;
    panel.title.textContent = panel.text("title", { name: model.name, ...model, piece: visible(trace.tokens.pieces[token]) });
    player.show();
    tell();
  });
}
