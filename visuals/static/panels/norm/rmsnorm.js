// What every norm divides by and subtracts, layers × tokens, and the arithmetic of the one that is selected.

import { labelsOf } from "../../characters.js";
import { choices } from "../../controls.js";
import { shown } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { centres, normForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { normFigures } from "../../readings/norm.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { formulaOf } from "./norm-formulas.js";
import { createMap, normName, selectedNorm } from "./rmsnorm-map.js";

/** @param {import("../../types.d.ts").Glass} glass */
const select = (glass) => selectedNorm(glass.state, glass);

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["attn_norm_mean", "attn_norm_rms", "ffn_norm_mean", "ffn_norm_rms"],
  difference: {
    reader: normFigures,
    select,
    of: ({ text, glass, named }) => text("of_place", { part: normName(glass, select(glass)), ...named }),
    parts: [{ draw: "map", create: createMap, called: "n_rms" }],
  },
  forms: normForms,
};

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function rmsnorm(element, glass) {
  const state = shownIn(glass);
  const figure = choices(glass, "rmsnorm", "figure", ["deviation", "mean"]);
  const map = createMap(glass, "rmsnorm.map", () =>
    centres(state.trace.model) && figure.now() === "mean" ? "mean" : "divisor",
  );
  const panel = frame(element, glass, "rmsnorm", { parts: ["what", "formula", "myth"] });

  /** @param {import("../../readings/norm.js").FiguresReading | null} reading null before there is a run */
  const view = (reading) => html`
    ${figure.element} ${map.element}
    <div class="gp-formula">${reading && formulaOf(reading.values, state.trace.model.norm_eps)}</div>
    <p class="gp-note" .textContent=${reading ? panel.text("note", { d_model: state.trace.model.d_model }) : ""}></p>
  `;
  render(view(null), panel.body);

  /** @param {import("../../readings/norm.js").FiguresReading} reading */
  function tell(reading) {
    const { layer, norm, token } = reading.selection;
    const { rms, mean, deviation } = reading.values;
    panel.title.textContent = panel.text("title", { layers: state.trace.model.n_layers, tokens: state.trace.T });
    const words = panel.text(`read_${norm}`, {
      layer,
      token,
      piece: visible(labelsOf(state.trace.tokens.pieces)[token]),
      rms: shown(rms ?? deviation, 5),
      mean: mean === undefined ? "" : shown(mean, 5),
    });
    panel.show(reading, words);
  }

  return inWidth(element, widthOf(map.element, glass), function draw(width, fresh) {
    figure.element.hidden = !centres(state.trace.model);
    map.draw([{ trace: state.trace, details: {} }], width, fresh);
    const reading = readHere(glass, normFigures, select(glass));
    return () => {
      render(view(reading), panel.body);
      if (reading) tell(reading);
    };
  });
}
