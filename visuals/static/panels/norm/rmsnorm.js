// RMSNorm: the root mean square before every norm, layers × tokens, and the arithmetic of the one that is selected.

import { exact, fraction, h, line, root, shown, strong, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { rmsNorms } from "../../parts.js";
import { inView, widthOf } from "../../pointing.js";
import { createMap, normAt, rmsAt, rowCount, selectedNorm } from "./rmsnorm-map.js";

/** @returns {(string|number)[][]} every value of the map, layer 0 first */
function table({ trace }) {
  const layers = trace.model.n_layers;
  const places = Array.from({ length: rowCount(layers) }, (_, row) => normAt(row, layers));
  const rows = places.flatMap((place) =>
    trace.tokens.pieces.map((piece, t) => [place.layer ?? "", place.norm, t, piece, rmsAt(trace, place, t)]),
  );
  return [["layer", "norm", "token", "piece", "rms"], ...rows];
}

/** The formula with the numbers of one norm; the mean is found back from the recorded RMS. @returns {HTMLElement[]} */
function arithmetic(value, eps) {
  const name = () => tinted("norm", "RMS(x)");
  return [
    line`${name()} = ${root("mean(x²) + ε")} = ${root(`${shown(value * value - eps, 6)} + ${shown(eps, 1)}`)} = ${strong(value)}`,
    line`RMSNorm(x) = ${fraction("x", name())} ⊙ γ = ${fraction("x", shown(value, 5))} ⊙ γ`,
  ];
}

export const about = { tensors: ["attn_norm_rms", "ffn_norm_rms"], minus: "glance", absent: rmsNorms };

/** @param {HTMLElement} element @param {object} glass */
export default function rmsnorm(element, glass) {
  const { state } = glass;
  const map = createMap(glass, "rmsnorm.map");
  const parts = ["what", "formula", "myth"];
  const panel = frame(element, glass, "rmsnorm", { csv: () => table(state), parts });
  const sums = h("div.gp-formula");
  const note = h("p.gp-note");
  panel.body.append(map.element, sums, note);
  const wide = widthOf(map.element, glass);

  function tell({ layer, norm, token }) {
    panel.title.textContent = panel.text("title", { layers: state.trace.model.n_layers, tokens: state.trace.T });
    const value = rmsAt(state.trace, { layer, norm }, token);
    sums.replaceChildren(...arithmetic(value, state.trace.model.norm_eps));
    note.textContent = panel.text("note", { d_model: state.trace.model.d_model });
    const name = norm === "final" ? `final token ${token}` : `layer ${layer} ${norm} token ${token}`;
    const reading = { layer, token, piece: visible(state.trace.tokens.pieces[token]), rms: shown(value, 5) };
    panel.tell(`${name} rms=${exact(value)}`, panel.text(`read_${norm}`, reading));
  }

  return inView(element, function draw(fresh) {
    const width = wide();
    if (width === 0) return null;
    const selected = selectedNorm(state, glass);
    map.draw([{ trace: state.trace }], width, fresh);
    return () => tell(selected);
  });
}
