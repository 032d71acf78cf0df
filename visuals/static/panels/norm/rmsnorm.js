// What every norm divides by and subtracts, layers × tokens, and the arithmetic of the one that is selected.

import { exact, fraction, h, inBrackets, line, root, shown, strong, tinted } from "../../dom.js";
import { choices } from "../../controls.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { centres, normForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { createMap, meanAt, normAt, rmsAt, rowCount, selectedNorm } from "./rmsnorm-map.js";

/** @returns {(string | number)[][]} every value of the map, layer 0 first */
function table({ trace }) {
  const { model } = trace;
  const places = Array.from({ length: rowCount(model) }, (_, row) => normAt(row, model));
  const figures = centres(model) ? { mean: meanAt, deviation: rmsAt } : { rms: rmsAt };
  const rows = places.flatMap((place) =>
    trace.tokens.pieces.map((piece, t) => [
      place.layer ?? "",
      place.norm,
      t,
      piece,
      ...Object.values(figures).map((at) => at(trace, place, t)),
    ]),
  );
  return [["layer", "norm", "token", "piece", ...Object.keys(figures)], ...rows];
}

/**
 * The formula with the numbers of one norm, found back from the recorded RMS or σ, which has ε in it.
 *
 * @param {number | null} mean of a LayerNorm
 * @returns {HTMLElement[]}
 */
function arithmetic(mean, value, eps) {
  const centred = mean !== null;
  const [kind, square, end] = centred ? ["LayerNorm", "(x − μ)²", " ⊙ γ + β"] : ["RMSNorm", "x²", " ⊙ γ"];
  const name = () => tinted("norm", centred ? "σ(x)" : "RMS(x)");
  const [above, filled] = centred ? ["x − μ(x)", `x − ${inBrackets(mean)}`] : ["x", "x"];
  const numbers = root(`${shown(value * value - eps, 6)} + ${shown(eps, 1)}`);
  return [
    ...(centred ? [line`μ(x) = mean(x) = ${strong(mean)}`] : []),
    line`${name()} = ${root(`mean(${square}) + ε`)} = ${numbers} = ${strong(value)}`,
    line`${kind}(x) = ${fraction(above, name())}${end} = ${fraction(filled, shown(value, 5))}${end}`,
  ];
}

export const about = {
  tensors: ["attn_norm_mean", "attn_norm_rms", "ffn_norm_mean", "ffn_norm_rms"],
  difference: "glance",
  forms: normForms,
};

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function rmsnorm(element, glass) {
  const { state } = glass;
  const figure = choices(glass, "rmsnorm", "figure", ["deviation", "mean"]);
  const shows = () => (centres(state.trace.model) && figure.now() === "mean" ? "mean" : "rms");
  const map = createMap(glass, "rmsnorm.map", shows);
  const parts = ["what", "formula", "myth"];
  const panel = frame(element, glass, "rmsnorm", { csv: () => table(state), parts });
  const sums = h("div.gp-formula");
  const note = h("p.gp-note");
  panel.body.append(figure.element, map.element, sums, note);

  function tell({ layer, norm, token }) {
    panel.title.textContent = panel.text("title", { layers: state.trace.model.n_layers, tokens: state.trace.T });
    const {
      trace,
      trace: { model },
    } = state;
    const value = rmsAt(trace, { layer, norm }, token);
    const mean = centres(model) ? meanAt(trace, { layer, norm }, token) : null;
    sums.replaceChildren(...arithmetic(mean, value, model.norm_eps));
    note.textContent = panel.text("note", { d_model: model.d_model });
    const name = norm === "final" ? `final token ${token}` : `layer ${layer} ${norm} token ${token}`;
    const reading = {
      layer,
      token,
      piece: visible(state.trace.tokens.pieces[token]),
      rms: shown(value, 5),
      mean: mean === null ? "" : shown(mean, 5),
    };
    panel.tell(
      `${name} ${mean === null ? `rms=${exact(value)}` : `mean=${exact(mean)} deviation=${exact(value)}`}`,
      panel.text(`read_${norm}`, reading),
    );
  }

  return inWidth(element, widthOf(map.element, glass), function draw(width, fresh) {
    figure.element.hidden = !centres(state.trace.model);
    const selected = selectedNorm(state, glass);
    map.draw([{ trace: state.trace }], width, fresh);
    return () => tell(selected);
  });
}
