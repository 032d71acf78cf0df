// MLA: the latent that is kept of a token, what a head rebuilds from it, and one score in both forms.

import { labelsOf } from "../../characters.js";
import { count, h, line, shown, strong, sub, tinted } from "../../dom.js";
import { visible } from "../../draw.js";
import { added, writtenOut } from "../../equation.js";
import { frame } from "../../frame.js";
import { createStrips } from "../../marks/strips.js";
import { inWidth, widthOf } from "../../pointing.js";
import { latentReader, widthsOf } from "../../readings/latent.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { elementBytes } from "../../readings/kv.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../types.d.ts").Model} Model
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../readings/latent.js").LatentReading} LatentReading
 */

const KIND = "latent";

/**
 * What the panel's reader is asked about.
 *
 * @param {Glass} glass
 * @returns {import("../../readings/latent.js").LatentSelection}
 */
const select = ({ state: { layer, head, query, key } }) => ({ layer, head, query, key });

/** @type {import("../../frame.js").About} */
export const about = {
  only: ({ parts }) => parts.latent !== null,
  unused: "head",
  tensors: ["q_rot", "kv_latent", "k_rope", "k_rot", "v", "scores"],
};

/**
 * The score in both forms, with its numbers.
 *
 * @param {LatentReading} reading
 * @param {Model} model
 * @param {Say} text
 */
function arithmeticOf({ score: found }, model, text) {
  const { head_dim: width, parts } = model;
  const { scale } = parts;
  const { turned, expanded, byLatent, score, absorbedScore } = found;
  const scored = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ by) => (a + b) * by;
  const said = writtenOut({ expanded, byLatent, turned, scale, score, absorbedScore }, [
    ["score", ["expanded", "turned", "scale"], scored],
    ["absorbedScore", ["byLatent", "turned", "scale"], scored],
  ]);
  const times = ` · ${said.scale}`;
  const product = () => ["q", sub("rope"), "·k", sub("rope")];
  const rest = said.turned;
  const rope = [...product(), " = ", rest];
  const query = () => [tinted("q", "q"), sub("nope")];
  const plain = [...query(), "·", tinted("k", "k"), sub("nope")];
  const inLatent = ["(W", sub("UK"), "ᵀ ", ...query(), ")·", tinted("k", "c")];
  const absorbed = [`(${said.byLatent} ${added(rest)})${times} = `, strong(said.absorbedScore)];
  return [
    line`${text("expanded")}`,
    line`(${plain} + ${product()})${times} = (${said.expanded} ${added(rest)})${times} = ${strong(said.score)}`,
    line`${text("absorbed")}`,
    line`(${inLatent} + ${product()})${times} = ${absorbed}`,
    line`${rope}; ${text("scale", { width, rope: widthsOf(model).rope, scale: said.scale })}`,
  ];
}

/**
 * What it takes to keep a token, in words.
 *
 * @param {LatentReading} reading
 * @param {Trace} trace
 * @param {Say} text
 */
function bytesOf({ values: { kept, expanded } }, trace, text) {
  const { n_heads: heads, n_layers: layers } = trace.model;
  const { rank, rope } = widthsOf(trace.model);
  const size = elementBytes(trace);
  return text("bytes", {
    rank,
    rope,
    kept,
    expanded: count(expanded),
    heads,
    size,
    kept_bytes: count(kept * size),
    expanded_bytes: count(expanded * size),
    layers,
    per_token: count(kept * size * layers),
    ratio: shown(expanded / kept, 3),
  });
}

/** The strips of what is kept, and of the key and the value that are rebuilt from it. @param {Say} text */
function createVectors(text) {
  const canvases = ["kept", "rebuilt", "value", "output"].map((name) =>
    h("canvas.gp-canvas", { "data-part": name, "data-text-label": `${KIND}.step_${name}` }),
  );
  const [kept, rebuilt, values, outputs] = canvases.map((one) => createStrips(one));
  /**
   * @param {number} width
   * @param {LatentReading} reading
   * @param {Model} model
   */
  function draw(width, { score: { c, absorbed, k, q }, output, value, selection: { head } }, model) {
    const { nope } = widthsOf(model);
    const latents = [
      { name: text("strip_latent"), role: "k", values: c },
      { name: text("strip_absorbed"), role: "q", values: absorbed },
    ];
    const keys = [
      { name: text("strip_k", { head, nope }), role: "k", values: k },
      { name: text("strip_q", { head }), role: "q", values: q },
    ];
    kept.draw(width, latents, { chosen: null, lead: latents[0] });
    rebuilt.draw(width, keys, { chosen: null, lead: keys[0] });
    values.draw(width, [{ name: text("strip_v", { head }), role: "v", values: value }], { chosen: null });
    const ways = [
      { name: text("strip_output"), role: "v", values: output.expanded },
      { name: text("strip_absorbed_output"), role: "v", values: output.byLatent },
    ];
    outputs.draw(width, ways, { chosen: null, lead: ways[0] });
  }
  return { canvases, draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function latentPanel(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const vectors = createVectors(text);
  const [kept, rebuilt, value, output] = vectors.canvases;
  const step = (/** @type {string} */ name) => html`<h3 class="gp-subtitle" data-text=${`${KIND}.step_${name}`}></h3>`;
  const pieceOf = (/** @type {number} */ token) => visible(labelsOf(state.trace.tokens.pieces)[token]);

  /** @param {LatentReading} reading */
  const noteOf = ({ selection }) =>
    text("note", { ...selection, queried: pieceOf(selection.query), piece: pieceOf(selection.key) });
  const difference = (/** @type {number} */ apart) =>
    apart ? text("apart", { apart: shown(apart, 2) }) : text("equal");
  /** @param {LatentReading} reading */
  function outputText({ selection, output, values }) {
    const { n_heads: heads } = state.trace.model;
    const { rank, rope } = widthsOf(state.trace.model);
    const told = { ...selection, queried: pieceOf(selection.query), difference: difference(output.apart) };
    return text("output", { ...told, heads, rank, rope, kept: values.kept });
  }
  /** @param {LatentReading | null} reading null before it has come */
  const view = (reading) => html`
    <p class="gp-note" .textContent=${reading ? noteOf(reading) : ""}></p>
    ${step("kept")} ${kept} ${step("rebuilt")} ${rebuilt} ${step("value")} ${value} ${step("score")}
    <div class="gp-formula" lang="en">${reading && arithmeticOf(reading, state.trace.model, text)}</div>
    ${step("output")} ${output}
    <p class="gp-note" .textContent=${reading ? outputText(reading) : ""}></p>
    ${step("bytes")}
    <p class="gp-note" .textContent=${reading ? bytesOf(reading, state.trace, text) : ""}></p>
  `;
  render(view(null), panel.body);

  /** @param {LatentReading} reading */
  function tell(reading) {
    const { selection, values } = reading;
    const piece = pieceOf(selection.key);
    panel.title.textContent = text("title", { ...selection, piece });
    panel.show(reading, text("read", { piece, head: selection.head, score: shown(values.score, 5) }));
  }

  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const reading = readHere(glass, latentReader, select(glass));
    element.classList.toggle("is-coming", !reading);
    if (!reading) return undefined;
    vectors.draw(width, reading, state.trace.model);
    return () => {
      render(view(reading), panel.body);
      tell(reading);
    };
  });
}
