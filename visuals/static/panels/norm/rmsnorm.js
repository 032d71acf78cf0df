// RMSNorm: the root mean square before every norm, layers × tokens, and the arithmetic of the one that is selected.

import { exact, fraction, h, root, shown, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { inView, link, steer, widthOf } from "../../pointing.js";
import { same, watched } from "../../reads.js";
import { chosenNorm, setNorm } from "./norm-choice.js";
import { createMap, indexOf, rmsAt, rowCount, rowOf } from "./rmsnorm-map.js";

/** @returns {(string|number)[][]} every value of the map, layer 0 first */
function table({ trace }) {
  const layers = trace.model.n_layers;
  const places = Array.from({ length: rowCount(layers) }, (_, i) => rowOf(i, layers)).reverse();
  const rows = places.flatMap((place) =>
    trace.tokens.pieces.map((piece, t) => [place.layer ?? "", place.norm, t, piece, rmsAt(trace, place, t)]),
  );
  return [["layer", "norm", "token", "piece", "rms"], ...rows];
}

/** The formula with the numbers of one norm; the mean is found back from the recorded RMS. @returns {HTMLElement[]} */
function arithmetic(value, eps) {
  const name = () => tinted("norm", "RMS(x)");
  const numbers = `${shown(value * value - eps, 6)} + ${shown(eps, 1)}`;
  const result = h("strong", null, shown(value, 5));
  return [
    h("p", null, name(), " = ", root("mean(x²) + ε"), " = ", root(numbers), " = ", result),
    h("p", null, "RMSNorm(x) = ", fraction("x", name()), " ⊙ γ = ", fraction("x", shown(value, 5)), " ⊙ γ"),
  ];
}

/** Pointer and keyboard. `view.hovered`: the cell under the pointer or null. */
function wire(canvas, glass, view, map, wide) {
  const { state } = glass;
  const find = (x, y) => {
    view.hovered = same(view.hovered, map.find(state.trace, wide(), x, y));
    if (!view.hovered) return null;
    const { layer, token } = view.hovered;
    return state.trace.layers.has(layer) ? { layer, query: token } : { query: token };
  };
  link(canvas, glass, find);
  canvas.addEventListener("pointerleave", () => {
    view.hovered = null;
    glass.repaint();
  });
  canvas.addEventListener("click", () => {
    if (!view.hovered) return;
    const { layer, norm, token } = view.hovered;
    view.hovered = null;
    setNorm(glass, { which: norm });
    glass.select(layer === null ? { query: token } : { layer, query: token });
  });
  const step =
    (by) =>
    ({ layer, trace }) => {
      const { n_layers } = trace.model;
      const index = indexOf({ layer, norm: chosenNorm(glass) }, n_layers) - by;
      const next = rowOf(Math.max(0, Math.min(rowCount(n_layers) - 1, index)), n_layers);
      view.hovered = null;
      setNorm(glass, { which: next.norm });
      return next.layer === null ? {} : { layer: next.layer };
    };
  steer(canvas, glass, { ArrowUp: step(1), ArrowDown: step(-1) });
}

/** @param {HTMLElement} element @param {object} glass */
export default function rmsnorm(element, glass) {
  const { state } = glass;
  const canvas = h("canvas.gp-canvas", { "data-text-label": "rmsnorm.map" });
  const parts = ["what", "formula", "myth"];
  const panel = frame(element, glass, "rmsnorm", { csv: () => table(state), parts });
  const sums = h("div.gp-formula");
  const note = h("p.gp-note");
  panel.body.append(h("div.gp-scroll", null, canvas), sums, note);
  const map = createMap(canvas, panel.text);
  const wide = widthOf(canvas.parentElement, glass);
  const view = watched({ hovered: null });
  wire(canvas, glass, view, map, wide);

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
    const { layer, query } = state;
    const width = wide();
    if (width === 0) return null;
    if (fresh) view.hovered = null;
    const selected = view.hovered ?? { layer, norm: chosenNorm(glass), token: query };
    map.draw(state, width, selected, fresh);
    return () => tell(selected);
  });
}
