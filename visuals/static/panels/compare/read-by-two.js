// One sentence read by two networks: words, what a head of each reads, next tokens, and what each network costs.

import { labelsOf } from "../../characters.js";
import { shareSaid } from "../../counts.js";
import { share } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { headOf, pairForm, samePlace, textRead, twoReader } from "../../readings/read-by-two.js";
import { effect, reactive } from "../../reads.js";
import { readBeside } from "../../run-for.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { costsView } from "./costs.js";
import { createCard } from "./read-card.js";
import { sidesNow } from "./sides.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/reading.js").Sides} Sides
 *
 * @typedef {import("../../readings/read-by-two.js").Side} Side
 *
 * @typedef {import("../../readings/read-by-two.js").TwoReading} Reading
 */

const SIDES = /** @type {const} */ (["A", "B"]);

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["attention", "logits"], sides: "both" };

/** The setting "layer.head" of a side. @type {(glass: Glass, side: Side) => string | undefined} */
const placeSet = ({ settings }, side) => settings.get("read-by-two")[side.toLowerCase()];

/**
 * Which head of each is looked at, and from which token: the same place of the text in both.
 *
 * @param {Glass} glass
 * @param {Sides} sides
 */
function placesIn(glass, sides) {
  const { state } = glass;
  const last = state.run === sides.A ? sides.A : sides.B; // whose token is selected
  // a text that is read, and one that is written: both stand at its end
  const two = SIDES.some((side) => sides[side].encoder);
  /** @param {Side} side */
  function place(side) {
    const trace = sides[side];
    const query = trace === state.trace ? state.query : two ? trace.T - 1 : samePlace(last, trace, state.query);
    return { ...headOf(placeSet(glass, side), state, trace.model), query };
  }
  return { A: place("A"), B: place("B") };
}

/**
 * Another layer or head for one side; where that is the page's own selection again, the side follows it.
 *
 * @param {Glass} glass
 * @param {Side} side
 * @param {"layer" | "head"} name
 * @param {number} by
 */
function step(glass, side, name, by) {
  const { settings, state } = glass;
  const sides = sidesNow(glass);
  if (!sides) return; // one of the two is gone
  const { model } = sides[side];
  const now = placesIn(glass, sides)[side];
  const wanted = `${now.layer + (name === "layer" ? by : 0)}.${now.head + (name === "head" ? by : 0)}`;
  const { layer, head } = headOf(wanted, state.locked, model);
  const own = headOf(undefined, state.locked, model);
  const same = own.layer === layer && own.head === head;
  settings.set("read-by-two", {
    ...settings.get("read-by-two"),
    [side.toLowerCase()]: same ? "" : `${layer}.${head}`,
  });
}

/**
 * What is looked at, in words: a word with what the head gives it, or what both would write next.
 *
 * @param {Reading} reading
 * @param {Say} text of the panel
 * @param {Glass["text"]} whole of the page
 */
function wordsOf({ word, runs }, text, whole) {
  if (!word) {
    const said = SIDES.map((side) => runs[side].likeliest).map(
      ({ piece, probability }) => `“${visible(piece)}” ${shareSaid(whole, probability)}`,
    );
    return text("read", { a: said[0], b: said[1] });
  }
  const { side, trace, query, token, weight } = word;
  const [read, looked] = [trace, textRead(trace)].map(({ tokens }) => labelsOf(tokens.pieces));
  const [from, to] = [read[query], looked[token]].map(visible);
  return text("read_weight", { side, query: from, key: to, weight: share(weight) });
}

/**
 * Every other network as a button, to read what is kept as A or, where nothing is, what is shown.
 *
 * @param {Glass} glass
 * @param {Say} text of the panel
 * @param {Sides | null} sides
 */
function readersView(glass, text, sides) {
  const { kept, run } = glass.state;
  const [first, second] = [(kept ?? run)?.model.name, sides?.B.model.name];
  const others = glass.models().filter(({ name }) => name !== first);
  const buttons = others.map(
    ({ name, label }) =>
      html`<button
        class="cmp-button"
        data-model=${name}
        aria-pressed=${String(name === second)}
        .textContent=${label}
        @click=${() => glass.readBy(name)}
      ></button>`,
  );
  return html`<p class="gp-note" .textContent=${text("by")}></p>
    <div class="cmp-row" role="group" aria-label=${text("by")} ?hidden=${!others.length}>${buttons}</div>`;
}

/**
 * That a press has changed the network of the whole page, and the way back, which leaves both runs where they are.
 *
 * @param {Glass} glass
 * @param {Say} text of the panel
 * @param {Sides | null} sides
 */
function backView({ state, modelName, showKept }, text, sides) {
  const [first, second] = [sides?.A.model.name, sides?.B.model.name];
  if (!first || !second || first === second || state.side === "A") return nothing;
  return html`<p class="gp-note" role="status" .textContent=${text("page_shows", { model: modelName(second) })}></p>
    <p class="cmp-row">
      <button
        class="cmp-button"
        data-back
        .textContent=${text("back", { model: modelName(first) })}
        @click=${showKept}
      ></button>
    </p>`;
}

/**
 * What the two runs are, where that has to be said.
 *
 * @param {Glass} glass
 * @param {Say} text of the panel
 * @param {Sides | null} sides
 */
function hintOf(glass, text, sides) {
  if (!sides) return text(glass.models().length > 1 ? "empty" : "alone");
  return text(sides.A.model.name === sides.B.model.name ? "one_model" : "not_subtracted");
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function readByTwo(element, glass) {
  const pointed = reactive(
    { at: /** @type {import("../../readings/read-by-two.js").Pointed} */ (null) },
    glass.repaint,
  );
  const panel = frame(element, glass, "read-by-two", { parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const point = (/** @type {typeof pointed.at} */ at) => {
    pointed.at = at;
  };
  const cards = SIDES.map((side) => ({
    side,
    view: createCard(side, glass, text, { step: (name, by) => step(glass, side, name, by), point }),
  }));

  /**
   * @param {Sides | null} sides
   * @param {Reading | null} reading
   */
  const view = (sides, reading) =>
    html`${readersView(glass, text, sides)} ${backView(glass, text, sides)}
      <p class="gp-note" role="status" .textContent=${hintOf(glass, text, sides)}></p>
      <div ?hidden=${!reading}>
        <div class="cmp-runs">${cards.map((card) => card.view(reading && reading.runs[card.side]))}</div>
        ${reading ? costsView(glass, text, reading.runs) : nothing}
      </div>`;
  render(view(null, null), panel.body);

  return effect(function draw() {
    const sides = sidesNow(glass);
    const reading = sides && readBeside(glass, twoReader, sides, { ...placesIn(glass, sides), pointed: pointed.at });
    panel.title.textContent = text(`title${sides ? pairForm(sides) : ""}`);
    render(view(sides, reading), panel.body);
    panel.show(reading, reading ? wordsOf(reading, text, glass.text) : "");
  });
}
