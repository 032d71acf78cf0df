// A feed-forward at one token: the quadrants of gate × up, one neuron's arithmetic, and what the strongest neurons
// write.

import { strongestNeuron } from "../../activations.js";
import { labelsOf } from "../../characters.js";
import { exact, h, inBrackets, line, shown, strong, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { neuronOff, neuronsOff } from "../../off.js";
import { noChoice } from "../../parts.js";
import { along, inWidth, bindPointer, bindArrowKeys, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { columnOf, ffnForms } from "../../readings/ffn-kinds.js";
import { drawnOf, numberAt, signsOf } from "../../readings/neurons.js";
import { neuronName, neuronPlace, ownerHeads, ownerOf } from "../../neuron-names.js";
import { shownIn } from "../../run-for.js";
import { createScatter } from "./scatter.js";
import { createWritten, pushes } from "./written.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/neurons.js").Drawn} Drawn
 *
 * @typedef {import("../../messages.d.ts").NeuronWrites} Writes
 *
 * @typedef {NonNullable<ReturnType<typeof neuronsAt>>} Here the neurons of one token
 *
 * @typedef {import("../../decoded.d.ts").Detail<"ffn_written">} Answer
 *
 * @typedef {object} Written what the strongest neurons of a token write
 * @property {number} layer
 * @property {number} token
 * @property {Writes[]} rows
 * @property {number} rest
 * @property {number} whole
 * @property {number} count
 */

const KIND = "ffn-token";
/**
 * The neurons at what is pointed at, where they are here; else at what is locked; null until those have come.
 *
 * @param {Glass} glass
 */
function neuronsAt(glass) {
  const state = shownIn(glass);
  for (const { layer, query } of [state, state.locked]) {
    const held = state.trace.layers.get(layer);
    const neurons = held?.neurons.get(query);
    if (held && neurons)
      return { layer, token: query, ffn: held.ffn, full: drawnOf(neurons), best: strongestNeuron(held, query) };
  }
  return null;
}

/** @type {{ found: Answer | null; extra: Answer | null; all: Written | null }} the last that was put together */
let written = { found: null, extra: null, all: null };
/**
 * What the strongest neurons wrote, and the locked neuron where it is none of them; null until it has come.
 *
 * @param {Glass} glass
 */
function writtenAt(glass) {
  const { layer, query: token, neuron } = glass.state.locked;
  const found = noChoice(shownIn(glass).trace.model)
    ? null
    : glass.detail("ffn_written", { layer, token, neuron: null });
  if (!found) return null;
  const listed = neuron === null || found.rows.some((row) => row.neuron === neuron);
  const extra = listed ? null : glass.detail("ffn_written", { layer, token, neuron });
  if (found !== written.found || extra !== written.extra) {
    const rows = extra ? [...extra.rows, ...found.rows] : found.rows;
    written = {
      found,
      extra,
      all: { layer, token, rows, rest: found.rest, whole: found.whole, count: found.rows.length },
    };
  }
  return written.all;
}

/**
 * The activation and the product with the numbers of one neuron.
 *
 * @param {Drawn} full
 * @param {number} place
 */
function products({ kind: { act, activation, reads, routed }, gate, up, activated, weight, product }, place) {
  const read = shown((gate ?? up)[place], 5);
  /** @type {Record<string, string>} */
  const bends = {
    silu: `${read} × σ(${read})`,
    relu: `max(0, ${read})`,
    gelu: `${read} × Φ(${read})`,
    gelu_new: `½ × ${read} × (1 + tanh(√(2/π) × (x + 0.044715 x³))), x = ${read}`,
  };
  const first = [
    tinted(reads, `${act}(${reads})`),
    " = ",
    tinted(reads, bends[activation]),
    " = ",
    strong(activated[place]),
  ];
  if (!gate) return [first];
  const factors = [
    inBrackets(activated[place]),
    " × ",
    tinted("up", inBrackets(up[place])),
    ...(routed && weight ? [" × ", shown(weight[place], 5)] : []),
  ];
  return [
    first,
    [
      tinted("gate", `${act}(gate)`),
      " · ",
      tinted("up", "up"),
      ...(routed ? [" · g"] : []),
      " = ",
      ...factors,
      " = ",
      strong(product[place]),
    ],
  ];
}

/**
 * From what is read to the product, with the numbers of one neuron, and the length of what it writes where that is
 * here.
 *
 * @param {Drawn} full
 * @param {number} place
 * @param {string} name
 * @param {Writes | null} row
 * @param {Say} text
 */
function arithmetic(full, place, name, row, text) {
  const product = full.product[place];
  const [first, ...others] = products(full, place);
  const lines = [line`${text("at", { neuron: name })}   ${first}`, ...others.map((one) => line`${one}`)];
  if (row?.norm === 0) return [...lines, line`${text("silent")}`];
  if (!row) return lines;
  const column = ["‖W", sub("down"), `[:, ${name}]‖`];
  const numbers = [`${shown(Math.abs(product), 5)} × ${shown(row.column, 5)} = `, strong(row.norm)];
  return [...lines, line`‖${text("writes")}‖ = |${shown(product, 5)}| × ${column} = ${numbers}`];
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["router_scores", "experts", "expert_weight", "gate", "up", "ffn_out"],
  difference: "detail",
  unused: "neuron",
  forms: ffnForms,
};

/** The saved table. @param {Here} here */
function rowsOf({ ffn, full }) {
  const { kind, gate, up } = full;
  const names = kind.strips.map(([name]) => name);
  return [
    ["neuron", ...ownerHeads(ffn), ...names.map((name) => columnOf(name, kind)), "quadrant"],
    ...Array.from(up, (_, i) => [
      full.of(i),
      ...ownerOf(ffn, full.of(i)),
      ...names.map((name) => numberAt(full, name, i)),
      signsOf(gate && gate[i], up[i]),
    ]),
  ];
}

/**
 * The numbers of the neuron at a place, as a program reads them.
 *
 * @param {Here} here
 * @param {number} place
 * @param {Writes | null} row
 */
function valueOf({ layer, token, ffn, full }, place, row) {
  const { kind, product, quadrants } = full;
  const numbers = kind.strips
    .filter(([name]) => name !== "product")
    .map(([name]) => `${columnOf(name, kind)}=${exact(numberAt(full, name, place))}`);
  const read = `${numbers.join(" ")} product=${exact(product[place])}`;
  const counts = quadrants.map(({ count }) => count).join(",");
  const wrote = row ? ` writes=${exact(row.norm)} raises=${row.raised[0].id}:${exact(row.raised[0].by)}` : "";
  return `layer ${layer} token ${token} ${neuronPlace(ffn, full.of(place))} ${read} quadrants=${counts}${wrote}`;
}

/**
 * The same for the text "read".
 *
 * @param {Glass} glass
 * @param {Here} here
 * @param {number} place
 */
const readingOf = (glass, { ffn, full }, place) => ({
  ...full.kind,
  neuron: neuronName(ffn, full.of(place), glass.text),
  gate: full.gate ? shown(full.gate[place], 4) : "",
  up: shown(full.up[place], 4),
  product: shown(full.product[place], 5),
});

/**
 * What the list of what is written says of a neuron of the locked token.
 *
 * @param {Glass} glass
 * @param {number} layer
 * @returns {import("./written.js").NeuronsAbout}
 */
function aboutNeurons(glass, layer) {
  const { trace, locked } = shownIn(glass);
  const neurons = trace.layers.get(locked.layer)?.neurons.get(locked.query);
  const full = neurons && drawnOf(neurons);
  return {
    product: full ? (neuron) => (full.place(neuron) < 0 ? 0 : full.product[full.place(neuron)]) : null,
    off: (neuron) => neuronOff(trace, layer, neuron),
    name: (neuron) => neuronName(trace.model.parts.ffn[layer], neuron, glass.text),
  };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function ffnToken(element, glass) {
  const state = shownIn(glass);
  const canvas = h("canvas.gp-canvas", { "data-text-label": `${KIND}.chart` });
  /** @type {{ at: Here | null; chosen: number }} */
  const view = { at: null, chosen: 0 };
  const panel = frame(element, glass, KIND, {
    csv: () => (view.at ? rowsOf(view.at) : []),
    parts: ["what", "formula", "myth"],
  });
  const [formula, note, push] = [h("div.gp-formula", { "data-part": "formula" }), h("p.gp-note"), h("div.ffn-pushes")];
  const [subtitle, sums] = [h("h3.gp-subtitle"), h("p.gp-note")];
  const written = createWritten(glass);
  const left = h("div", null, canvas);
  panel.body.append(h("div.gp-columns", null, left, h("div", null, formula, push)), note, subtitle, sums, written.box);
  const scatter = createScatter(canvas, panel.text);
  const choose = (/** @type {number | null} */ place) =>
    place === null || !view.at ? null : { neuron: view.at.full.of(place) };
  bindPointer(canvas, glass, (x, y) => choose(scatter.find(x, y)));
  bindArrowKeys(
    canvas,
    glass,
    along(
      () => view.at?.full.up.length ?? 0,
      () => view.chosen,
      choose,
    ),
  );
  const named = (/** @type {{ layer: number; token: number }} */ { layer, token }) => ({
    layer,
    token,
    piece: visible(labelsOf(state.trace.tokens.pieces)[token]),
  });

  /** The list of what is written: of the locked token, whose name is above it. @param {Written | null} found */
  function list(found) {
    subtitle.textContent = panel.text(
      "written_title",
      named(found ?? { layer: state.locked.layer, token: state.locked.query }),
    );
    sums.textContent = found
      ? panel.text("sums", { count: found.count, whole: shown(found.whole, 4), rest: shown(found.rest, 4) })
      : noChoice(state.trace.model)
        ? panel.text("no_logits")
        : "";
    written.fill(found?.rows ?? [], aboutNeurons(glass, found?.layer ?? state.locked.layer));
  }

  const listAgain = memo(list);
  return inWidth(element, widthOf(left, glass), function draw(width) {
    const at = neuronsAt(glass);
    const found = writtenAt(glass);
    element.classList.toggle("is-coming", !at);
    if (!at) return;
    listAgain(found, state.language);
    const { full, ffn } = at;
    const asked = state.neuron === null ? -1 : full.place(state.neuron);
    const chosen = asked >= 0 ? asked : full.place(at.best);
    const neuron = full.of(chosen);
    Object.assign(view, { at, chosen });
    const here = found && found.layer === at.layer && found.token === at.token;
    const row = here ? (found.rows.find((r) => r.neuron === neuron) ?? null) : null;
    panel.title.textContent = panel.text("title", { ...full.kind, ...named(at) });
    note.textContent = panel.text("note", { ...full.kind, f: full.up.length, experts: ffn.top_k });
    const off =
      neuronsOff(state.trace, at.layer)
        ?.map(full.place)
        .filter((place) => place >= 0) ?? null;
    scatter.draw(width, full, { off, word: glass.text("off.word") }, chosen);
    written.mark(neuron);
    const name = neuronName(ffn, neuron, glass.text);
    push.replaceChildren(...pushes(row, name, panel.text));
    formula.replaceChildren(...arithmetic(full, chosen, name, row, panel.text));
    panel.tell(valueOf(at, chosen, row), panel.text("read", readingOf(glass, at, chosen)));
  });
}
